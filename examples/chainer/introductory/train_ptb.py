"""A language model of two LSTM layers, trained by truncated backpropagation through time with a `Trainer`."""

# ruff: noqa: NPY002 - as in Chainer's programs, one global seed decides

import argparse

import numpy as np
from words import get_words

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import training
from xpgrad.training import extensions


class RNNForLM(chainer.Chain):
    """Words to scores of the next word."""

    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.l2 = L.LSTM(n_units, n_units)
            self.l3 = L.Linear(n_units, n_vocab)
        for param in self.params():
            param.array[...] = np.random.uniform(-0.1, 0.1, param.shape)

    def reset_state(self):
        self.l1.reset_state()
        self.l2.reset_state()

    def forward(self, x):
        h0 = self.embed(x)
        h1 = self.l1(F.dropout(h0))
        h2 = self.l2(F.dropout(h1))
        return self.l3(F.dropout(h2))


class ParallelSequentialIterator(chainer.dataset.Iterator):
    """Iterator over pairs of a word and its successor, at `batch_size` equally spaced positions that advance
    together."""

    def __init__(self, dataset, batch_size, repeat=True):
        super().__init__()
        self.dataset, self.batch_size, self.repeat = dataset, batch_size, repeat
        self.offsets = [i * len(dataset) // batch_size for i in range(batch_size)]
        self.iteration = self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail = -1.0

    def __next__(self):
        length = len(self.dataset)
        if not self.repeat and self.iteration * self.batch_size >= length:
            raise StopIteration
        words = self.get_words()
        self._previous_epoch_detail = self.epoch_detail
        self.iteration += 1
        epoch = self.iteration * self.batch_size // length
        self.is_new_epoch, self.epoch = self.epoch < epoch, epoch
        return list(zip(words, self.get_words(), strict=True))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def get_words(self):
        return [self.dataset[(offset + self.iteration) % len(self.dataset)] for offset in self.offsets]

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
        self.epoch = serializer("epoch", self.epoch)
        self._previous_epoch_detail = serializer("previous_epoch_detail", self._previous_epoch_detail)


class BPTTUpdater(training.updaters.StandardUpdater):
    """Backpropagates through `bprop_len` words, and cuts the graph there."""

    def __init__(self, train_iter, optimizer, bprop_len, device):
        super().__init__(train_iter, optimizer, device=device)
        self.bprop_len = bprop_len

    def update_core(self):
        loss = 0
        train_iter = self.get_iterator("main")
        optimizer = self.get_optimizer("main")
        for _ in range(self.bprop_len):
            batch = train_iter.__next__()
            x, t = self.converter(batch, self.device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def compute_perplexity(result):
    """Add perplexities to a record of the log."""
    if "main/loss" in result:
        result["perplexity"] = np.exp(result["main/loss"])
    if "validation/main/loss" in result:
        result["val_perplexity"] = np.exp(result["validation/main/loss"])


def arguments():
    """Return the parser of the options of both programs for text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batchsize", "-b", type=int, default=20)
    parser.add_argument("--bproplen", "-l", type=int, default=35, help="words through which is backpropagated")
    parser.add_argument("--epoch", "-e", type=int, default=39)
    parser.add_argument("--device", "-d", default="-1")
    parser.add_argument("--gradclip", "-c", type=float, default=5)
    parser.add_argument("--out", "-o", default="result")
    parser.add_argument("--resume", "-r", default="")
    parser.add_argument("--test", action="store_true", help="a tiny part of the text")
    parser.add_argument("--unit", "-u", type=int, default=650)
    parser.add_argument("--model", "-m", default="model.npz")
    return parser


def texts(test):
    """Return the text to train, validate and test with, and the number of kinds of words."""
    train, val, held_out = get_words()
    n_vocab = int(max(train)) + 1
    return (train[:100], val[:100], held_out[:100], n_vocab) if test else (train, val, held_out, n_vocab)


def main(argv=None):
    args = arguments().parse_args(argv)
    device = chainer.get_device(args.device)
    device.use()

    train, val, test, n_vocab = texts(args.test)
    train_iter = ParallelSequentialIterator(train, args.batchsize)
    val_iter = ParallelSequentialIterator(val, 1, repeat=False)
    test_iter = ParallelSequentialIterator(test, 1, repeat=False)

    rnn = RNNForLM(n_vocab, args.unit)
    model = L.Classifier(rnn)
    model.compute_accuracy = False
    model.to_device(device)

    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(args.gradclip))

    updater = BPTTUpdater(train_iter, optimizer, args.bproplen, device)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)

    eval_model = model.copy()  # the same parameters, but separate states
    eval_rnn = eval_model.predictor
    trainer.extend(extensions.Evaluator(
        val_iter, eval_model, device=device, eval_hook=lambda _: eval_rnn.reset_state()))  # fmt: skip
    interval = 10 if args.test else 100
    trainer.extend(extensions.LogReport(postprocess=compute_perplexity, trigger=(interval, "iteration")))
    trainer.extend(
        extensions.PrintReport(["epoch", "iteration", "perplexity", "val_perplexity"]), trigger=(interval, "iteration")
    )
    trainer.extend(extensions.ProgressBar(update_interval=1 if args.test else 10))
    trainer.extend(extensions.snapshot())
    trainer.extend(extensions.snapshot_object(model, "model_iter_{.updater.iteration}"))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)

    trainer.run()

    eval_rnn.reset_state()
    evaluator = extensions.Evaluator(test_iter, eval_model, device=device)
    result = evaluator()
    perplexity = np.exp(float(result["main/loss"]))
    print(f"test perplexity: {perplexity}")
    chainer.serializers.save_npz(f"{args.out}/{args.model}", model)
    return trainer, perplexity


if __name__ == "__main__":
    main()
