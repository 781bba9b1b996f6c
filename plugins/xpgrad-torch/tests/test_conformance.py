"""xpgrad's suite for backends, on every device that PyTorch sees here."""

from tests.turn import commit

from xpgrad_conformance import suite
from xpgrad_conformance.cases import CASES

WHOLE = [case.name for case in CASES[commit() % 256 :: 256]]
"""Cases with all small inputs, special points and modes: others for each commit."""

globals().update(suite("torch", whole=WHOLE))
