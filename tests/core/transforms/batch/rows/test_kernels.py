"""Kernels of batches that no function of the standard has: writes and sums at indices, random numbers."""

import importlib
import pkgutil

import numpy as np
import pytest
from tests.building import array, values
from tests.core.transforms.batch.rows.members import Case, check

import xpgrad
from xpgrad import Variable, ops, random
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.backend.kernels import table
from xpgrad.errors import BatchError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import vmap
from xpgrad.transforms.batch.rows.table import rows
from xpgrad.transforms.enclosing.namespace import DRAWS


def written(index):
    def f(xp, x, u, *arrays):
        y = x + 0
        y[index(*arrays)] = u
        return y

    return f


def added(index):
    return lambda xp, x, u, *arrays: ops.scatter_add(x, index(*arrays), u)


INDICES = [
    ("integer", lambda: 1, "f8 3 4", "f8 4", ()),
    ("steps", lambda: (..., slice(None, None, -2)), "f8 3 4", "f8 3 2", ()),
    ("rows", lambda i: i, "f8 3 4", "f8 2 4", ("i8+ 2",)),
    ("elements", lambda i, j: (i, j), "f8 3 4", "f8 2", ("i8+ 2", "i8+ 2")),
    ("apart", lambda i, j: (i, slice(None), j), "f8 3 5 4", "f8 2 5", ("i8+ 2", "i8+ 2")),
]
CASES = [
    *(Case(f"set {name}", written(index), x, u, *i, raw=False) for name, index, x, u, i in INDICES),
    *(Case(f"add {name}", added(index), x, u, *i, raw=False) for name, index, x, u, i in INDICES),
    Case("set by a mask", lambda xp, x, m: written(lambda m: m)(xp, x, 2.0, m), "f8 3 4", "b1 3", raw=False),
    Case("set by a mask of all", lambda xp, x, m: written(lambda m: m)(xp, x, 0, m), "i8 3 4", "b1 3 4", raw=False),
    Case("set by the same mask", written(lambda m: m), "f8 3 4", "f8 4", "b1 3",
         raw=False, batched=[(True, True, False), (True, False, False), (False, True, False)]),
    Case("convolve", lambda xp, a, v: ops.convolve(a, v), "f8 5", "f8 3", raw=False),
    Case("repeated rows", lambda xp, x: x[xp.asarray([0, 0, 2])] * x[0], "f8 3 4", raw=False),
    Case("segments", lambda xp, x, s: ops.segment_sum(x, xp.abs(s), 4), "f8 5 2", "i8+ 5", raw=False),
]  # fmt: skip


@pytest.fixture(params=("@numpy", "@strict:cpu"))
def device(request):
    return xpgrad.get_device(request.param)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_kernel_agrees_with_each_member(device, case):
    check(case, device)


def test_a_value_for_a_mask_that_differs_raises_if_it_depends_on_its_length(device):
    x = array(device, [[1.0, -2.0], [-3.0, -4.0]])
    u = array(device, [1.0, 2.0])
    with pytest.raises(BatchError, match=r"mask of an index.*xp.where"):
        vmap(lambda x, u: written(lambda: x > 0)(xp, x, u), in_axes=(0, None))(x, u)


def test_searchsorted_puts_nan_behind_all_numbers(device):
    lines = array(device, [[1.0, 2.0, np.nan], [0.0, np.nan, np.nan]], "float64")
    wanted = array(device, [[np.nan, 3.0, 0.5], [np.nan, np.inf, 0.0]], "float64")
    for side in ("left", "right"):
        found = vmap(lambda x, y, side=side: xp.searchsorted(x, y, side=side))(lines, wanted)
        expected = [np.searchsorted(x, y, side=side) for x, y in zip(on_host(lines), on_host(wanted), strict=True)]
        assert values(found) == np.asarray(expected).tolist()


# Random numbers


def test_each_member_draws_separate_numbers_in_the_order_of_a_loop(device):
    x = array(device, np.zeros(3))
    random.seed(0)
    got = vmap(lambda x: x + Variable(random.normal((2,), device=device)))(x)
    random.seed(0)
    assert values(got) == [values(Variable(random.normal((2,), device=device)) + 0 * x[0]) for _ in range(3)]


def test_chunks_draw_the_same_numbers_on_request(device):
    f = vmap(lambda x: x + Variable(random.uniform((), device=device)), randomness="same", chunk_size=2)
    random.seed(0)
    got = values(f(array(device, np.zeros(5))))
    assert len(set(got)) == 1
    random.seed(0)
    first = [values(random.uniform((), device=device)) for _ in range(2)]
    random.seed(0)
    f(array(device, np.zeros(5)))
    assert values(random.uniform((), device=device)) == first[1]  # as if all members had been computed together


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_a_program_draws_what_the_function_does_for_chunks(randomness):
    f = vmap(lambda x: F.dropout(x), chunk_size=2, randomness=randomness)
    program, x = xpgrad.compile(f), np.ones((5, 8))
    for _ in range(2):
        random.seed(1)
        expected = f(x)
        random.seed(1)
        np.testing.assert_array_equal(program(x), expected)
    assert (expected == expected[0]).all() == (randomness == "same")


# All kernels

BODIES = {
    "accumulate", "alias", "binary_hit_rate", "class_counts", "convolve_full", "corrections", "determination",
    "hit_rate", "inverse_root", "labels_count", "labels_one_hot", "labels_weight", "normalized_backward",
    "normalized_gamma_backward", "representatives", "softmax_from_log", "special.kve_integral",
    "sylvester",
}  # fmt: skip
"""Kernels whose default bodies, in calls of the standard, compute with batched arrays like with plain arrays."""


def test_every_kernel_has_a_batching_rule():
    for module in pkgutil.walk_packages(xpgrad.__path__, "xpgrad."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    own = {name: each for name, each in table.declared.items() if ":" not in name and not each.optional}
    elementwise = {name for name in own if getattr(table.definition(name), "elementwise", False)}
    undecided = own.keys() - elementwise - rows.keys() - BODIES - DRAWS
    assert not undecided, "give each a row in transforms/batch/rows, or list it among BODIES here after trying it"
    assert not BODIES & rows.keys()
