"""``python -m xpgrad_autograd``: run a program that imports autograd; imported, it serves autograd."""

import sys

from xpgrad_autograd import install, stand_in

install()

if __name__ == "__main__":
    stand_in.run(sys.argv[1:])
