"""The command line: ``xpgrad devices | doctor | conform | new-backend | demo | port``."""

import click

import xpgrad
from xpgrad.cli.conform import conform
from xpgrad.cli.demo import demo
from xpgrad.cli.devices import devices
from xpgrad.cli.doctor import doctor
from xpgrad.cli.new_backend import new_backend
from xpgrad.cli.port import port


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(xpgrad.__version__, prog_name="xpgrad")
def main() -> None:
    """Differentiate arrays of any library."""


for _command in (devices, doctor, conform, new_backend, demo, port):
    main.add_command(_command)
