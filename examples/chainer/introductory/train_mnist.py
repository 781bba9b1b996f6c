"""A perceptron on handwritten digits, trained by a `Trainer`."""

import argparse

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import training
from xpgrad.training import extensions


class MLP(chainer.Chain):
    """Three linear layers; the first batch determines the sizes of their inputs."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def arguments():
    """Return the parser of the options of both programs for digits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batchsize", "-b", type=int, default=100)
    parser.add_argument("--epoch", "-e", type=int, default=20)
    parser.add_argument("--frequency", "-f", type=int, default=-1, help="epochs between snapshots")
    parser.add_argument("--device", "-d", default="-1")
    parser.add_argument("--out", "-o", default="result")
    parser.add_argument("--resume", "-r", default=None)
    parser.add_argument("--unit", "-u", type=int, default=1000)
    return parser


def main(argv=None):
    args = arguments().parse_args(argv)
    device = chainer.get_device(args.device)
    print(f"device: {device}")
    device.use()

    # reports its loss and accuracy at each call, which the extensions below print and plot
    model = L.Classifier(MLP(args.unit, 10))
    model.to_device(device)

    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train, test = chainer.datasets.get_digits()
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)

    trainer.extend(extensions.Evaluator(test_iter, model, device=device), call_before_training=True)
    trainer.extend(extensions.DumpGraph("main/loss"))
    frequency = args.epoch if args.frequency == -1 else max(1, args.frequency)
    trainer.extend(extensions.snapshot(), trigger=(frequency, "epoch"))
    trainer.extend(extensions.LogReport(), call_before_training=True)
    if extensions.PlotReport.available():
        keys = ["main/loss", "validation/main/loss"], ["main/accuracy", "validation/main/accuracy"]
        for name, each in zip(("loss.png", "accuracy.png"), keys, strict=True):
            trainer.extend(extensions.PlotReport(each, "epoch", filename=name), call_before_training=True)
    entries = [
        "epoch",
        "main/loss",
        "validation/main/loss",
        "main/accuracy",
        "validation/main/accuracy",
        "elapsed_time",
    ]
    trainer.extend(extensions.PrintReport(entries), call_before_training=True)
    trainer.extend(extensions.ProgressBar())

    if args.resume is not None:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()
    return trainer


if __name__ == "__main__":
    main()
