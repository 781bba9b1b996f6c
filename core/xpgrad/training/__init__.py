"""Training loops: `Trainer` runs an updater, and extensions that evaluate, log, plot, save and change rates."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.training import extension, extensions, triggers, updaters
from xpgrad.training.extension import PRIORITY_EDITOR, PRIORITY_READER, PRIORITY_WRITER, Extension, make_extension
from xpgrad.training.trainer import Trainer
from xpgrad.training.triggers import get_trigger
from xpgrad.training.updaters import StandardUpdater, Updater

__all__ = [
    "PRIORITY_EDITOR", "PRIORITY_READER", "PRIORITY_WRITER", "Extension", "StandardUpdater", "Trainer", "Updater",
    "extension", "extensions", "get_trigger", "make_extension", "triggers", "updaters",
]  # fmt: skip
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
