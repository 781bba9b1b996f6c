"""``python -m xpgrad_chainer``: run a program that imports chainer; imported, it serves chainer."""

import sys

from xpgrad_chainer import install, stand_in

install()

if __name__ == "__main__":
    stand_in.run(sys.argv[1:])
