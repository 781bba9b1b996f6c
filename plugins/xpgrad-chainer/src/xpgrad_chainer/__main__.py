"""``python -m xpgrad_chainer``: run a program that imports chainer."""

import sys

from xpgrad_chainer import install, stand_in

if __name__ == "__main__":
    install()
    stand_in.run(sys.argv[1:])
