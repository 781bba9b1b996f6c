"""A perceptron on handwritten digits, with an explicit training loop."""

import os

from train_mnist import MLP, arguments

import xpgrad as chainer
import xpgrad.links as L
from xpgrad import configuration, serializers
from xpgrad.dataset import convert


def main(argv=None):
    args = arguments().parse_args(argv)
    device = chainer.get_device(args.device)
    device.use()

    model = L.Classifier(MLP(args.unit, 10))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    if args.resume is not None:
        serializers.load_npz(f"{args.resume}/mlp.model", model)
        serializers.load_npz(f"{args.resume}/mlp.state", optimizer)

    train, test = chainer.datasets.get_digits()
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    sum_accuracy = sum_loss = 0
    while train_iter.epoch < args.epoch:
        batch = train_iter.next()
        x, t = convert.concat_examples(batch, device)
        optimizer.update(model, x, t)
        sum_loss += float(model.loss.array) * len(t)
        sum_accuracy += float(model.accuracy.array) * len(t)

        if train_iter.is_new_epoch:
            print(f"epoch {train_iter.epoch}: train loss {sum_loss / len(train):.4f}, "
                  f"accuracy {sum_accuracy / len(train):.4f}")  # fmt: skip
            sum_accuracy = sum_loss = 0
            with configuration.using_config("train", False), chainer.using_config("enable_backprop", False):
                for batch in test_iter:
                    x, t = convert.concat_examples(batch, device)
                    loss = model(x, t)
                    sum_loss += float(loss.array) * len(t)
                    sum_accuracy += float(model.accuracy.array) * len(t)
            test_iter.reset()
            accuracy = sum_accuracy / len(test)
            print(f"test loss {sum_loss / len(test):.4f}, accuracy {accuracy:.4f}")
            sum_accuracy = sum_loss = 0

    os.makedirs(args.out, exist_ok=True)
    serializers.save_npz(f"{args.out}/mlp.model", model)
    serializers.save_npz(f"{args.out}/mlp.state", optimizer)
    return accuracy


if __name__ == "__main__":
    main()
