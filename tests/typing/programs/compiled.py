"""A compiled function takes arrays in place of Variables, and its programs are read and saved."""

import io

import numpy as np

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.transforms import value_and_grad


@xpgrad.compile(executor="python")
def doubled(x: Variable, by: float = 2.0) -> Variable:
    return x * by


@xpgrad.compile
@value_and_grad
def energy(x: Variable) -> Variable:
    return xp.sum(xp.cos(x) ** 2)


array = np.ones(3)
x: Variable = doubled(Variable(array))
y = doubled(array, by=0.5)
print(y.shape, doubled.cache_info().hits, doubled.guards(array))
value, gradient = energy(array)
program = energy.program(array)
print(program.explain(), energy.source(array), program.peak_bytes)
file = io.BytesIO()
program.save(file, weights=True)
file.seek(0)
loaded = xpgrad.load_program(file)
print(loaded(array), loaded.weights)
