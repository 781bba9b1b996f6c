"""The picture of a program, for ``--plot FILE.png``."""

import sys


def plot(draw, columns=1, size=(5, 3)):
    """Let ``draw(axes)`` draw a picture, if the program was called with ``--plot FILE.png``."""
    if sys.argv[1:2] == ["--plot"]:
        import matplotlib.pyplot as plt

        fig, axes = plt.subplots(1, columns, figsize=size, layout="constrained")
        draw(axes)
        fig.savefig(sys.argv[2], dpi=100)
