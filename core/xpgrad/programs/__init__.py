"""Programs of compiled functions in files: JSON and arrays, which are checked and run no code when they are read."""

from xpgrad.programs.loading import SavedProgram as SavedProgram
from xpgrad.programs.loading import load_program as load_program
from xpgrad.programs.saving import save as save
