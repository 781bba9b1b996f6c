"""State of PyTorch outside of a compiled function: its modules, and its random numbers."""

import numpy as np
import pytest
import torch

import xpgrad
from xpgrad import CompileWarning, Variable

X = np.ones(2)


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x * 2.0


def test_changes_of_modules_are_noticed():
    layer, scaled = torch.nn.Linear(1, 1, bias=False), Scaled()
    model = torch.nn.Sequential(layer)

    def f(x):
        found = sum(p.item() for p in model.parameters()) + model[0].weight.item() + layer.in_features
        return x * found * scaled(model(torch.ones(1))).detach().item() * (2.0 if layer.weight.requires_grad else 3.0)

    changes = [
        lambda: layer.weight.data.fill_(2.0),
        lambda: layer.weight.requires_grad_(False),
        lambda: scaled.register_forward_hook(lambda module, inputs, y: y * 5.0),
        lambda: setattr(layer, "weight", torch.nn.Parameter(torch.full((1, 1), 3.0))),
        lambda: model.append(torch.nn.Identity()),
    ]
    compiled = xpgrad.compile(f, verify=False)
    for change in changes:
        change()
        for _ in range(3):
            np.testing.assert_allclose(compiled(X), f(Variable(X)).array)
    assert compiled.cache_info().hits == len(changes)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.empty(1).uniform_(),
        lambda: torch.nn.functional.gumbel_softmax(torch.zeros(2))[:1],
        lambda: torch.distributions.Uniform(0.0, 1.0).sample(),
        lambda: torch.nn.Dropout()(torch.ones(1)),
    ],
)
def test_random_numbers_that_only_decide_run_without_a_program(draw):
    compiled = xpgrad.compile(lambda x: x * (2.0 if float(draw()) > 0.5 else 3.0))
    with pytest.warns(CompileWarning, match="it draws random numbers of torch, whose state is not seen"):
        compiled(X)
    assert {float(compiled(X)[0]) for _ in range(40)} == {2.0, 3.0}
