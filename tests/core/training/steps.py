"""An updater that only counts, for tests of the order of calls."""

from xpgrad.reporter import report
from xpgrad.training import Trainer, Updater


class Steps(Updater):
    """Four iterations are an epoch; each reports its number as "x"."""

    def __init__(self, fails_at=None):
        self.iteration, self.fails_at, self.finalized = 0, fails_at, 0

    def get_all_optimizers(self):
        return {}

    def update(self):
        self.iteration += 1
        if self.iteration == self.fails_at:
            raise ZeroDivisionError("the third step")
        report({"x": self.iteration})

    @property
    def epoch(self):
        return self.iteration // 4

    @property
    def epoch_detail(self):
        return self.iteration / 4

    @property
    def previous_epoch_detail(self):
        return (self.iteration - 1) / 4

    def finalize(self):
        self.finalized += 1

    def serialize(self, serializer):
        self.iteration = int(serializer("iteration", self.iteration))


def trainer(tmp_path, stop=(2, "epoch"), **options):
    return Trainer(Steps(**options), stop, out=str(tmp_path / "out"))
