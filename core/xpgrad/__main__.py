"""``python -m xpgrad``: the command line."""

from xpgrad.cli import main

if __name__ == "__main__":
    main(prog_name="python -m xpgrad")
