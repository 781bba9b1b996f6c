"""Half precision in PyTorch: every case of the table, and more elements than its dtypes can count."""

import pytest
import torch
import torch.nn.functional as nn
from tests.half_precision import CASES, FAMILY, differences, table_differences
from tests.turn import part_of

import xpgrad

pytestmark = pytest.mark.exhaustive(1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FAMILY)
def test_many_elements_of_half_precision_are_counted_and_summed(device: xpgrad.Device, name: str, dtype: str) -> None:
    assert not differences(name, device, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", part_of(list(CASES), 8))
def test_half_precision_of_every_magnitude_is_as_float64(device: xpgrad.Device, name: str, dtype: str) -> None:
    assert not table_differences(name, device, dtype)


FUNCTIONS = {
    "gelu": lambda x: nn.gelu(x, approximate="tanh"),
    "mish": nn.mish,
    "layer_norm": lambda x: nn.layer_norm(x, (4,)),
    "rms_norm": lambda x: nn.rms_norm(x, (4,), eps=1e-6),
    "normalize": nn.normalize,
    "cosine_similarity": lambda x: nn.cosine_similarity(x, torch.roll(x, 1, 1)),
    "attention": lambda x: nn.scaled_dot_product_attention(x, x, x),
    "mse_loss": lambda x: nn.mse_loss(x, torch.roll(x, 1, 0)),
    "cross_entropy": lambda x: nn.cross_entropy(x, torch.tensor([0, 1, 2])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0, 3e4])
def test_functions_of_pytorch_are_computed_in_single_precision(device: xpgrad.Device, name: str, scale: float) -> None:
    rows = torch.tensor([[0.5, -1.0, 0.75, 0.25], [1.0, 0.5, -0.75, -0.5], [-0.25, 0.875, 0.375, 1.0]]) * scale

    def both(dtype: torch.dtype) -> list[torch.Tensor]:
        x = xpgrad.Variable(rows.half().to(dtype).to(device.handle))
        y = FUNCTIONS[name](x)
        return [y.array.double(), xpgrad.grad([xpgrad.functions.sum(y)], [x])[0].array.double()]

    for half, double in zip(both(torch.float16), both(torch.float64), strict=True):
        expected = double.clamp(-65504, 65504)
        torch.testing.assert_close(
            half.clamp(-65504, 65504), expected, rtol=1e-2, atol=2.0**-23 + float(expected.abs().max()) / 200
        )
