"""Vectors of words: skip-gram or continuous bag of words."""

# ruff: noqa: NPY002 - as in Chainer's programs, one global seed decides

import argparse
import collections
import os

import numpy as np
from words import get_words, get_words_vocabulary

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.initializers as I
import xpgrad.links as L
import xpgrad.optimizers as O
from xpgrad import reporter, training
from xpgrad.backends import cuda
from xpgrad.training import extensions


class ContinuousBoW(chainer.Chain):
    """Predict a word from the mean of the surrounding words."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        e = self.embed(contexts)
        h = F.sum(e, axis=1) * (1.0 / contexts.shape[1])
        loss = self.loss_func(h, x)
        reporter.report({"loss": loss}, self)
        return loss


class SkipGram(chainer.Chain):
    """Predict a word from each surrounding word."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        e = self.embed(contexts)
        batch_size, n_context, n_units = e.shape
        x = F.broadcast_to(x[:, None], (batch_size, n_context))
        e = F.reshape(e, (batch_size * n_context, n_units))
        x = F.reshape(x, (batch_size * n_context,))
        loss = self.loss_func(e, x)
        reporter.report({"loss": loss}, self)
        return loss


class SoftmaxCrossEntropyLoss(chainer.Chain):
    """A linear layer, and the cross entropy of all words."""

    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(n_in, n_out, initialW=0)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.out(x), t)


class WindowIterator(chainer.dataset.Iterator):
    """Words at random places, and those around them in a window of random size."""

    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.array(dataset, np.int32)
        self.window, self.batch_size, self._repeat = window, batch_size, repeat
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32)
        self.order += window
        self.current_position = self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        i, i_end = self.current_position, self.current_position + self.batch_size
        position = self.order[i:i_end]
        w = np.random.randint(self.window - 1) + 1
        offset = np.concatenate([np.arange(-w, 0), np.arange(1, w + 1)])
        contexts = self.dataset.take(position[:, None] + offset[None, :])
        center = self.dataset.take(position)
        self.is_new_epoch = i_end >= len(self.order)
        if self.is_new_epoch:
            np.random.shuffle(self.order)
            self.epoch += 1
            self.current_position = 0
        else:
            self.current_position = i_end
        return center, contexts

    @property
    def epoch_detail(self):
        return self.epoch + self.current_position / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        self.is_new_epoch = serializer("is_new_epoch", self.is_new_epoch)
        serializer("order", self.order)


@chainer.dataset.converter()
def convert(batch, device):
    """Return a batch on the device."""
    center, contexts = batch
    return device.send(center), device.send(contexts)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", "-d", default="-1")
    parser.add_argument("--unit", "-u", default=100, type=int)
    parser.add_argument("--window", "-w", default=5, type=int)
    parser.add_argument("--batchsize", "-b", type=int, default=1000)
    parser.add_argument("--epoch", "-e", default=20, type=int)
    parser.add_argument("--model", "-m", choices=["skipgram", "cbow"], default="skipgram")
    parser.add_argument("--negative-size", default=5, type=int)
    parser.add_argument("--out-type", "-o", choices=["hsm", "ns", "original"], default="hsm")
    parser.add_argument("--out", default="result")
    parser.add_argument("--resume", "-r", default=None)
    parser.add_argument("--snapshot-interval", type=int, default=None)
    parser.add_argument("--test", action="store_true", help="a tiny part of the text")
    args = parser.parse_args(argv)

    device = chainer.get_device(args.device)
    device.use()
    interval = min(args.snapshot_interval or args.epoch, args.epoch)

    train, val, _ = get_words()
    counts = collections.Counter(train.tolist())
    counts.update(collections.Counter(val.tolist()))
    n_vocab = max(counts) + 1
    if args.test:
        train, val = train[:100], val[:100]
    index2word = {wid: word for word, wid in get_words_vocabulary().items()}

    if args.out_type == "hsm":
        HSM = L.BinaryHierarchicalSoftmax
        tree = HSM.create_huffman_tree(counts)
        loss_func = HSM(args.unit, tree)
        loss_func.W.array[...] = 0
    elif args.out_type == "ns":
        cs = [counts[w] for w in range(n_vocab)]
        loss_func = L.NegativeSampling(args.unit, cs, args.negative_size)
        loss_func.W.array[...] = 0
    else:
        loss_func = SoftmaxCrossEntropyLoss(args.unit, n_vocab)
    model = {"skipgram": SkipGram, "cbow": ContinuousBoW}[args.model](n_vocab, args.unit, loss_func)
    model.to_device(device)

    optimizer = O.Adam()
    optimizer.setup(model)

    train_iter = WindowIterator(train, args.window, args.batchsize)
    val_iter = WindowIterator(val, args.window, args.batchsize, repeat=False)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, converter=convert, device=device)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    trainer.extend(extensions.Evaluator(val_iter, model, converter=convert, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", "validation/main/loss"]))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(filename="snapshot_epoch_{.updater.epoch}"), trigger=(interval, "epoch"))
    if args.resume is not None:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    with open(os.path.join(args.out, "word2vec.model"), "w", encoding="utf-8") as file:
        file.write(f"{len(index2word)} {args.unit}\n")
        w = cuda.to_cpu(model.embed.W.array)
        for i, wi in enumerate(w):
            file.write(f"{index2word[i]} {' '.join(map(str, wi))}\n")
    return trainer


if __name__ == "__main__":
    main()
