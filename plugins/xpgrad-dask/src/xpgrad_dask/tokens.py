"""Tokens that identify Variables in dask: the tokens of their arrays, found without computation.

Without these tokens, dask pickles a Variable, which computes its array, while it holds the lock of all tokens. A
thread that does so and a thread that computes may then wait for each other forever.
"""

from typing import Any

from xpgrad import Variable
from xpgrad_dask.libraries import dask


def register() -> None:
    """Let dask ask `token_of` about Variables."""
    dask.tokenize.normalize_token.register(Variable, token_of)


def token_of(x: Variable) -> Any:
    """Return a token that identifies a Variable and its gradient."""
    parts = x.array, x.grad, x.name, x.requires_grad
    return type(x).__qualname__, *map(dask.tokenize.normalize_token, parts)
