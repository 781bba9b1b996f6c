"""The command line: ``xpgrad conform``, ``xpgrad devices``, ``xpgrad demo``."""

import click

import xpgrad
from xpgrad.cli.conform import conform
from xpgrad.cli.demo import demo
from xpgrad.cli.devices import devices


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(xpgrad.__version__, prog_name="xpgrad")
def main() -> None:
    """Differentiate arrays of any library."""


main.add_command(conform)
main.add_command(devices)
main.add_command(demo)
