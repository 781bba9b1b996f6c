"""A language model of two LSTM layers, truncated backpropagation through time, and an explicit training loop."""

import copy
import os

import numpy as np
import train_ptb

import xpgrad as chainer
import xpgrad.links as L
from xpgrad import configuration, serializers
from xpgrad.dataset import convert


def main(argv=None):
    args = train_ptb.arguments().parse_args(argv)
    device = chainer.get_device(args.device)
    device.use()

    def evaluate(model, iterator):
        evaluator = model.copy()  # separate states
        evaluator.predictor.reset_state()
        sum_loss = count = 0
        with configuration.using_config("train", False), chainer.using_config("enable_backprop", False):
            for batch in copy.copy(iterator):
                x, t = convert.concat_examples(batch, device)
                sum_loss += evaluator(x, t).array
                count += 1
        return np.exp(float(sum_loss) / count)

    train, val, test, n_vocab = train_ptb.texts(args.test)
    train_iter = train_ptb.ParallelSequentialIterator(train, args.batchsize)
    val_iter = train_ptb.ParallelSequentialIterator(val, 1, repeat=False)
    test_iter = train_ptb.ParallelSequentialIterator(test, 1, repeat=False)

    model = L.Classifier(train_ptb.RNNForLM(n_vocab, args.unit))
    model.compute_accuracy = False
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(args.gradclip))

    sum_loss = count = iteration = 0
    while train_iter.epoch < args.epoch:
        loss = 0
        iteration += 1
        for _ in range(args.bproplen):
            batch = train_iter.__next__()
            x, t = convert.concat_examples(batch, device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
            count += 1
        sum_loss += loss.array
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()

        if iteration % 20 == 0:
            print(f"iteration {iteration}: training perplexity {np.exp(float(sum_loss) / count):.1f}")
            sum_loss = count = 0
        if train_iter.is_new_epoch:
            print(f"epoch {train_iter.epoch}: validation perplexity {evaluate(model, val_iter):.1f}")

    perplexity = evaluate(model, test_iter)
    print(f"test perplexity: {perplexity:.1f}")
    os.makedirs(args.out, exist_ok=True)
    serializers.save_npz(f"{args.out}/rnnlm.model", model)
    serializers.save_npz(f"{args.out}/rnnlm.state", optimizer)
    return perplexity


if __name__ == "__main__":
    main()
