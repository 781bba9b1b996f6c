"""Tensors first met within a function that PyTorch transforms: state cached then is valid afterwards."""

import pytest
from tests.processes import output_of

pytestmark = pytest.mark.exhaustive(1)

PROGRAM = """
import torch

def gradient(x):
    import xpgrad, xpgrad.array_api as xp
    v = xpgrad.Variable(x)
    xp.sum(xp.tanh(v) * 2.0).backward()
    return v.grad

x = torch.ones(2)
{transformed}
import xpgrad
plain = gradient(x)
assert type(plain) is torch.Tensor and not torch._is_functional_tensor(plain), plain
assert (plain - 0.8399487).abs().max() < 1e-6, plain
"""


@pytest.mark.parametrize(
    "transformed",
    [
        "torch.func.vmap(gradient)(x[None])",
        "torch.func.functionalize(gradient)(x)",
        "with torch.inference_mode(): gradient(x)",
        "with torch.device('meta'): gradient(x)",
    ],
)
def test_what_is_first_met_in_a_transformed_function_serves_afterwards(transformed: str) -> None:
    program = PROGRAM.replace("{transformed}", transformed)
    output_of("-c", program)
