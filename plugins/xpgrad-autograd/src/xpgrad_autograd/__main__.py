"""``python -m xpgrad_autograd``: run a program that imports autograd."""

import sys

from xpgrad_autograd import stand_in

if __name__ == "__main__":
    stand_in.run(sys.argv[1:])
