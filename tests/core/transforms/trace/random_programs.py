"""Random programs over NumPy: views, writes, draws, constants, outputs that share memory, 0-d and empty arrays."""

import functools
import operator
import warnings

import numpy as np

import xpgrad
from xpgrad.transforms.trace.program import Call, Program, Value, substituted

BACKEND = xpgrad.get_device("@numpy").backend
XP = BACKEND.xp
SHAPES = (), (0,), (3,), (1, 3), (2, 3), (3, 2), (2, 2), (2, 1, 3)
UNARY = np.negative, np.tanh, np.sin, np.square, np.positive
BINARY = np.add, np.multiply, np.subtract, np.maximum
SCALARS = 1, 1.0, True, 0.0, -0.0, 2, -1.5, float("nan"), float("inf")


def spec(array):
    return BACKEND.spec(array)


def opened(tree, arrays):
    return substituted(tree, arrays)


def evaluate(call, arrays):
    """Make one call, and store its results in `arrays`."""
    result = call.function(*opened(call.args, arrays), **opened(call.kwargs, arrays))
    for value, array in zip(call.results, [result] if call.single else result or (), strict=False):
        arrays[value] = BACKEND.restore(array)


def interpreted(program, inputs):
    """Return copies of the results of a program, called sequentially: the reference for all executors and passes."""
    arrays = dict(zip(program.inputs, inputs, strict=True))
    for call in program.calls:
        evaluate(call, arrays)
    return tuple(np.array(opened(item, arrays), copy=True) for item in program.outputs)


def rounding(program, inputs):
    """Return by how much sums may differ in another order: 16 units of the largest value of each dtype on the way."""
    arrays = dict(zip(program.inputs, inputs, strict=True))
    for call in program.calls:
        evaluate(call, arrays)
    found = 0.0
    for array in arrays.values():
        if isinstance(array, np.ndarray) and array.dtype.kind in "fc" and np.any(finite := np.isfinite(array)):
            found = max(found, 16 * np.finfo(array.dtype).eps * np.max(np.abs(array[finite])))
    return np.asarray(found)


class Dice:
    """Random numbers that a program draws; `reset` starts them again."""

    def __init__(self, seed):
        self.seed = seed
        self.reset()

    def reset(self):
        self.stream = np.random.default_rng(self.seed)

    def draw(self, shape):
        return self.stream.standard_normal(shape)


class Maker:
    """Makes a random program, calling each function to determine the shapes of its results.

    `choose(n)` returns a number from 0 to n - 1.
    """

    def __init__(self, choose, scale=1):
        self.choose, self.dice = choose, Dice(choose(1000))
        self.shapes = [tuple(n * scale if n > 1 else n for n in shape) for shape in SHAPES]
        self.calls, self.arrays, self.makers = [], {}, []
        self.stream = np.random.default_rng(choose(1000))
        self.captured = [self.random(self.pick(self.shapes)) for _ in range(2)]
        self.inputs = []
        for i in range(1 + choose(3)):
            array = self.random(self.pick(self.shapes))
            self.inputs.append(Value(spec(array), f"x{i}"))
            self.arrays[self.inputs[-1]] = array

    def pick(self, items):
        return items[self.choose(len(items))]

    def random(self, shape):
        dtype = self.pick([np.float64, np.float64, np.float32])
        array = self.stream.standard_normal(shape)
        array[np.asarray(array > 1.2)] = -0.0
        return array.astype(dtype)

    def call(self, name, function, *args, **options):
        kwargs = options.pop("kwargs", {})
        line = (__file__, 1 + self.choose(40), "f")
        try:
            result = function(*opened(args, self.arrays), **kwargs)
        except (ValueError, TypeError, IndexError):
            return  # shapes that do not fit
        results = ()
        if not options.get("writes"):
            many = list(map(BACKEND.restore, [result] if isinstance(result, (np.ndarray, np.generic)) else result))
            results = tuple(Value(spec(array)) for array in many)
            self.arrays.update(zip(results, many, strict=True))
            options["single"] = isinstance(result, (np.ndarray, np.generic))
        self.calls.append(Call(name, function, args, kwargs, results, line=line, **options))

    def operand(self):
        if not self.choose(6):
            return self.pick(self.captured)
        return self.pick(list(self.arrays)[-6:] if self.choose(3) else list(self.arrays))

    def value(self):
        return self.pick(list(self.arrays))

    def repeat(self):
        """Make an earlier call again."""
        if self.calls:
            old = self.pick(self.calls)
            self.call(old.name, old.function, *old.args, kwargs=old.kwargs, writes=old.writes, draws=old.draws)

    def unary(self):
        function = self.pick(UNARY)
        self.call(function.__name__, function, self.operand())

    def binary(self):
        function = self.pick(BINARY)
        self.call(function.__name__, function, self.operand(), self.operand())

    def scalar(self):
        function, given = self.pick([np.multiply, np.add, np.divide]), [self.operand(), self.pick(SCALARS)]
        given = given[:: -1 if function is not np.divide and self.choose(2) else 1]
        self.call(function.__name__, function, *given)

    def transpose(self):
        x = self.value()
        axes = tuple(self.stream.permutation(x.spec.ndim).tolist())
        self.call("permute_dims", XP.permute_dims, x, axes)

    def matrix_transpose(self):
        self.call("matrix_transpose", XP.matrix_transpose, self.value())

    def reshape(self):
        x = self.value()
        self.call("reshape", XP.reshape, x, self.pick([(-1,), x.spec.shape, x.spec.shape[::-1], (1, *x.spec.shape)]))

    def item(self):
        index = self.pick(
            [0, -1, slice(1, None), (slice(None), 0), (..., slice(None, None, -1)), (..., slice(1, None)), ...]
        )
        self.call("x[]", operator.getitem, self.value(), index)

    def broadcast(self):
        self.call("broadcast_to", XP.broadcast_to, self.operand(), self.pick(self.shapes))

    def sum(self):
        kwargs = {"axis": self.pick([None, 0, -1]), "keepdims": bool(self.choose(2))}
        self.call("sum", XP.sum, self.operand(), kwargs=kwargs)

    def sum_to(self):
        x = self.operand()
        self.call("sum_to", XP.sum_to, x, self.pick([(), x.shape if isinstance(x, np.ndarray) else x.spec.shape]))

    def product(self):
        self.call("matmul", XP.matmul, self.operand(), self.operand())

    def create(self):
        name = self.pick(["ones", "zeros", "empty_like"])
        if name == "empty_like":
            self.call("full", XP.full, self.pick(self.shapes), self.pick(SCALARS[3:]))
        else:
            self.call(name, getattr(XP, name), self.pick(self.shapes), kwargs={"dtype": np.dtype(np.float64)})

    def cast(self):
        dtype = self.pick([np.float64, np.float32])
        self.call("astype", XP.astype, self.operand(), np.dtype(dtype), kwargs={"copy": bool(self.choose(2))})

    def copy(self):
        self.call("copy", BACKEND.copy, self.operand())

    def concat(self):
        self.call("concat", XP.concat, [self.operand(), self.operand()], kwargs={"axis": 0})

    def broadcast_arrays(self):
        self.call("broadcast_arrays", XP.broadcast_arrays, self.operand(), self.operand())

    def draw(self):
        self.call("random_normal", functools.partial(self.dice.draw, self.pick(self.shapes)), draws=True)

    def may_be_written(self, x):
        array = self.arrays[x]
        with warnings.catch_warnings(action="error"):
            try:
                writeable = array.flags.writeable
            except FutureWarning:  # of broadcast_arrays, whose results will be read-only
                return False
        return array.ndim == 0 or (0 not in array.strides and writeable)

    def write(self):
        x, key = self.value(), self.pick([..., 0, (..., slice(0, 1))])
        if self.may_be_written(x):
            self.call("x[]=", operator.setitem, x, key, self.operand(), writes=(x,))

    def write_outside(self):
        x = self.pick(self.captured)
        self.call("x[]=", operator.setitem, x, ..., self.operand(), writes=(x,))

    def update(self):
        """An operation in place, whose result is its first operand."""
        x = self.value()
        if self.may_be_written(x):
            self.call("iadd", operator.iadd, x, self.operand(), writes=(x,))

    KINDS = (
        *("unary", "binary", "scalar", "binary", "scalar", "unary", "transpose", "matrix_transpose", "reshape", "item"),
        *("broadcast", "sum", "sum_to", "product", "create", "cast", "copy", "concat", "broadcast_arrays", "draw"),
        *("write", "write_outside", "update", "repeat", "repeat"),
    )

    THEMES = (
        "unary unary binary binary transpose sum",  # layouts of write targets, and the order of sums
        "scalar item broadcast sum",
        "scalar scalar scalar unary",
        "create scalar binary write",
    )
    """Kinds of calls that must occur together to detect errors of a pass."""

    def program(self, count):
        kept = [array.copy() for array in (*self.captured, *self.arrays.values())]
        with np.errstate(all="ignore"):
            kinds = [self.pick(self.KINDS) for _ in range(6)] if self.choose(2) else self.pick(self.THEMES).split()
            for _ in range(count):
                getattr(self, self.pick(kinds))()
        values = list(self.arrays)
        outputs = [self.pick(values[-8:]) for _ in range(1 + self.choose(4))]
        outputs += [self.pick([*self.captured, *self.inputs])] if not self.choose(3) else []
        for array, before in zip((*self.captured, *(self.arrays[x] for x in self.inputs)), kept, strict=True):
            array[...] = before
        return Program("f", tuple(self.inputs), tuple(outputs), tuple(self.calls))


def laid_out(array, order):
    """Return a copy of an array: in C order, in Fortran order, or with gaps."""
    if order < 2 or not array.ndim:
        return np.array(array, order="CF"[order % 2], copy=True)
    wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def bits(array):
    """Return the bits of an array without the sign of NaN, which differs from loop to loop."""
    plain = np.where(np.isnan(array), np.nan, array).astype(array.dtype) if array.dtype.kind == "f" else array
    return type(array), array.shape, array.dtype, plain.tobytes()


class Runs:
    """Runs of a program by different ways, each from the same state of inputs, captured arrays and random numbers."""

    def __init__(self, maker, program):
        self.maker, self.program = maker, program
        self.captured = [array.copy() for array in maker.captured]

    def run(self, function, order=0):
        """Return the bits of the results and of all writable arrays, and the results."""
        maker = self.maker
        maker.dice.reset()
        for array, before in zip(maker.captured, self.captured, strict=True):
            array[...] = before
        inputs = [laid_out(maker.arrays[x], order) for x in maker.inputs]
        with np.errstate(all="ignore"):
            results = function(*inputs)
        state = [bits(array) for array in (*results, *inputs, *maker.captured)]
        for array, before in zip(maker.captured, self.captured, strict=True):
            array[...] = before
        return state, results, inputs
