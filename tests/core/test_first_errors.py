"""Error messages for a beginner's first mistakes: operation, argument, remedy."""

import io
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import (
    Chain,
    Link,
    Variable,
    initializers,
    iterators,
    models,
    ops,
    optimizers,
    serializers,
    training,
    transforms,
)
from xpgrad import array_api as xp
from xpgrad import links as L
from xpgrad.optimizer_hooks import WeightDecay
from xpgrad.scipy import linalg, ndimage
from xpgrad.utils.type_check import InvalidType

A = np.asarray([0.5, 2.0])
KNOWN = r"; numpy has bool, int8, .*, complex128, float16$"


def x() -> Variable:
    return Variable(A.copy())


class Foreign:
    """A dtype of no library."""

    def __repr__(self) -> str:
        return "other.quaternion"


class NoInit(Chain):
    """A chain whose author forgot super().__init__()."""

    def __init__(self) -> None:
        with self.init_scope():
            self.l1 = L.Linear(2, 1)


class NoInitNoScope(Link):
    """The same, without parameters to register."""

    def __init__(self) -> None:
        self.size = 3


def model() -> Any:
    return L.Linear(2, 1)


def sgd(link: Any = None) -> Any:
    return optimizers.SGD().setup(link or model())


def rows(n: int = 2) -> Any:
    return np.ones((3, n), np.float32)


def saved(obj: Any) -> io.BytesIO:
    file = io.BytesIO()
    serializers.save_npz(file, obj)
    file.seek(0)
    return file


def add_twice(optimizer: Any) -> None:
    for _ in range(2):
        optimizer.add_hook(WeightDecay(0.1))


def update_uncleared(optimizer: Any) -> None:
    F.sum(optimizer.target(rows())).backward()
    optimizer.update()


def update_compiled(optimizer: Any) -> None:
    xpgrad.compile(lambda x: optimizer.update(lambda: F.sum(optimizer.target(x))), strict=True)(rows())


FIRST: dict[str, tuple[Callable[[], Any], Any, str]] = {
    # of dtypes
    "finfo of a foreign dtype": (lambda: xp.finfo(Foreign()), TypeError,
        rf"^finfo: unknown dtype other\.quaternion{KNOWN}"),
    "finfo of an integer dtype": (lambda: xp.finfo(np.int32), ValueError,
        r"^finfo: expected a floating-point dtype, or an array of one, got <class 'numpy\.int32'>$"),
    "iinfo of a foreign dtype": (lambda: xp.iinfo(Foreign()), TypeError,
        rf"^iinfo: unknown dtype other\.quaternion{KNOWN}"),
    "isdtype of an unknown kind": (lambda: xp.isdtype(xp.float32, "floating"), ValueError,
        r"^isdtype: expected a dtype, and a kind such as 'real floating' or a dtype, got .*, 'floating'$"),
    "creation with a foreign dtype": (lambda: xp.zeros(2, dtype=Foreign()), TypeError,
        rf"^zeros: unknown dtype other\.quaternion{KNOWN}"),
    "astype with a foreign dtype": (lambda: xp.astype(x(), "float33"), TypeError,
        r"^astype: unknown dtype 'float33'; did you mean 'float32'\?$"),
    "a dtype that the library does not have": (lambda: xp.astype(xp.ones(2, device="@strict"), "float16"), TypeError,
        r"^astype: strict has no dtype float16; it has bool, int8, .*, complex128$"),
    "a dtype that the device does not have": (lambda: xp.zeros(2, dtype="float64", device="@strict:no_float64"),
        TypeError, r"^zeros: @strict:no_float64 has no dtype float64; it has int8, .*float32, complex64, bool$"),
    "a cast that the device does not have": (
        lambda: xp.astype(xp.ones(2, dtype="float32", device="@strict:no_float64"), complex), TypeError,
        r"^astype: @strict:no_float64 has no dtype complex128; it has int8, .*float32, complex64, bool$"),
    # of Variables
    "a Variable of a list": (lambda: Variable([1.0, 2.0]), TypeError,
        r"^Variable: expected an array .*, got .*list; nothing is converted silently; .* with numpy\.asarray"),
    "a Variable of a Variable": (lambda: Variable(x()), TypeError, r"^Variable: .*got a Variable; use its \.array"),
    "a Variable of text": (lambda: Variable(np.asarray(["a"])), TypeError, r"dtype <U1 .*; convert to a numeric dtype"),
    "a Variable as an option": (lambda: F.elu(x(), x()), TypeError,
        r"^elu: expected real options, got a Variable of .*; use numbers or operators$"),
    "a function of text": (lambda: F.relu("x"), TypeError, r"^relu: expected an array .*, got .*str; "),
    "a function of None": (lambda: xp.exp(None), TypeError, r"^exp: expected at least one Variable or array, got None"),
    "a misspelt keyword": (lambda: Variable(A, requires_grads=True), TypeError,
        r"unexpected keyword argument 'requires_grads'"),
    "a misspelt keyword of a function for several numbers of axes": (lambda: F.max_pooling_2d(A, 2, strides=1),
        TypeError, r"^max_pooling_2d: got an unexpected keyword argument 'strides'(\. Did .*\?)?; got x=float64"),
    "no argument": (lambda: F.convolution_1d(), TypeError, r"^convolution_1d: missing 2 .*; got no arguments$"),
    "a number for a tuple": (lambda: np.fft.rfft2(Variable(np.ones((2, 2))), 5), TypeError,
        r"^numpy\.fft\.rfft2: s: expected a tuple of int, got 5"),
    # of sweeps
    "backward from many elements": (lambda: (x() * 2).backward(), ValueError,
        r"^backward: cannot start from 2 elements of shape \(2,\) without a gradient; set y\.grad first, or reduce"),
    "backward of one Variable": (lambda: xpgrad.backward(x() * 2), TypeError,
        r"^backward: outputs must be a tuple or a list, got Variable; write \[output\]$"),
    "a loss scale that is no number": (lambda: x().sum().backward(loss_scale="2"), TypeError,
        r"^backward: loss_scale must be a real number, got '2'$"),
    "a complex loss scale": (lambda: (v := x(), xpgrad.grad([v.sum()], [v], loss_scale=1j)), TypeError,
        r"^grad: loss_scale must be a real number, got 1j$"),
    "several loss scales": (lambda: x().sum().backward(loss_scale=np.ones(2)), TypeError,
        r"^backward: loss_scale must be a real number, got array"),
    "grad of one output": (lambda: xpgrad.grad(x() * 2, [x()]), TypeError,
        r"^grad: outputs must be a tuple or a list, got Variable; write \[output\]$"),
    "grad of a function": (lambda: xpgrad.grad(lambda z: z), TypeError,
        r"^grad: expected .*, got a function; xpgrad\.transforms\.grad differentiates functions$"),
    "grad of a function at a point": (lambda: xpgrad.grad(F.relu, A), TypeError,
        r"^grad: expected .*, got a function; xpgrad\.transforms\.grad differentiates functions$"),
    "grad for an array": (lambda: xpgrad.grad([x() * 2], [A]), TypeError,
        r"^grad: inputs\[0\] must be a Variable, got ndarray$"),
    "a gradient of another shape": (lambda: setattr(x(), "grad", np.ones(3)), ValueError,
        r"^Variable\.grad: expected shape \(2,\) as in the array, got \(3,\)$"),
    "the transform of no function": (lambda: transforms.grad(x()), TypeError, r"^grad: expected a function, got Var"),
    "the transform of a function of many numbers": (lambda: transforms.grad(lambda z: z * 2)(A), ValueError,
        r"^grad: the function must return one number, got shape \(2,\); reduce it, or use jacobian or vjp$"),
    # of devices
    "a misspelt device": (lambda: xpgrad.get_device("@nmpy"), ValueError,
        r"^get_device: unknown device '@nmpy'; did you mean '@numpy'\? installed backends: "),
    "a misspelt device of a plugin that is not installed": (lambda: xpgrad.get_device("@mxl"), ValueError,
        r"^get_device: unknown device '@mxl'; did you mean '@mlx'\? pip install xpgrad-mlx; installed backends: "),
    "a number that the backend has no device of": (lambda: xpgrad.get_device("@numpy:3"), ValueError,
        r"^get_device: unknown device '@numpy:3'; numpy has @numpy$"),
    "no specifier": (lambda: x().to_device(3.5), TypeError,
        r"^get_device: expected a specifier such as '@name:0', a number or a Device, got float$"),
    # of models
    "init_scope before super().__init__()": (NoInit, RuntimeError,
        r"^NoInit: Link\.__init__\(\) has not been called; call super\(\)\.__init__\(\) first in __init__$"),
    "setup of a link without super().__init__()": (lambda: sgd(NoInitNoScope()), RuntimeError,
        r"^NoInitNoScope: Link\.__init__\(\) has not been called; call super"),
    "a model without forward": (lambda: Chain()(rows()), NotImplementedError,
        r"^Chain: define a method forward, which a call of the link runs$"),
    "an array in place of a parameter": (lambda: setattr(model(), "W", rows()), TypeError,
        r"^Linear\.W: expected a Parameter or Variable, got ndarray; assign link\.W\.array, or"),
    "features of another number": (lambda: model()(rows(3)), InvalidType,
        r"linear \(Forward\)\n\nExpect: W of shape \(out, 3\), .*\nActual: x is float32 \(3, 3\), W is"),
    "a list as input": (lambda: model()([[1.0, 2.0]]), TypeError,
        r"^linear: expected an array .*, got list; .*asarray"),
    "integers as input": (lambda: model()(np.ones((3, 2), int)), InvalidType,
        r"real floating-point dtype\nActual: x is int"),
    "an uninitialised parameter in a function": (lambda: F.linear(rows(), xpgrad.Parameter()), xpgrad.UnknownArray,
        r"^linear: the Variable is uninitialised; give it data first$"),
    "the namespace of an uninitialised Variable": (lambda: Variable(None).__array_namespace__(), AttributeError,
        r"^__array_namespace__: the Variable is uninitialised; give it an array first$"),
    "an uninitialised parameter in a transform": (
        lambda: transforms.grad(lambda m: F.sum(m(rows())))(L.Linear(None, 1)), xpgrad.UnknownArray,
        r"^Linear: the Parameter /W is uninitialised; call the model once, or initialize its parameters, before"),
    "the class of an initializer": (lambda: L.Linear(2, 1, initialW=initializers.HeNormal), TypeError,
        r"^Linear: initializer: expected an initializer, got the class HeNormal; write HeNormal\(\)$"),
    "the class of an initializer of a parameter": (lambda: xpgrad.Parameter(initializers.HeNormal), TypeError,
        r"^Parameter: expected an initializer, got the class HeNormal; write HeNormal\(\)$"),
    "a list for a parameter": (lambda: xpgrad.Parameter([1.0, 2.0], (2,)), TypeError,
        r"^Parameter: initializer: expected None, a scalar, an array or a callable, got list$"),
    "a complex number for a parameter": (lambda: xpgrad.Parameter(1j, (2,)), xpgrad.errors.DtypeError,
        r"^Parameter: expected a real number for float32, got 1j; give a complex array$"),
    "an initializer that returns a number": (lambda: xpgrad.Parameter(lambda array: 5.0, (2,)), xpgrad.ShapeError,
        r"^Parameter: the initializer returned 5\.0, expected shape \(2,\)$"),
    "a size that is text": (lambda: L.Linear("2", 1), TypeError,
        r"^Linear: expected an integer or a sequence of integers, got an item of type str$"),
    "the name of an initializer": (lambda: L.Linear(2, 1, initialW="HeNormal"), TypeError,
        r"^Linear: initializer: expected None, a scalar, an array or a callable, got str$"),
    "initial values of another shape": (lambda: L.Linear(2, 1, initialW=rows()), xpgrad.ShapeError,
        r"^Linear: Constant: expected values that broadcast to shape \(1, 2\), got shape \(3, 2\)$"),
    "a stack of one model": (lambda: models.stack(model()), TypeError,
        r"^stack: expected a sequence of links, got Linear$"),
    # of optimizers
    "update without setup": (lambda: optimizers.SGD().update(), RuntimeError,
        r"^SGD\.update: there is no model; call setup\(model\) first$"),
    "a hook without setup": (lambda: optimizers.SGD().add_hook(WeightDecay(0.1)), RuntimeError,
        r"^SGD\.add_hook: call setup\(model\) first, which removes all hooks$"),
    "setup of parameters": (lambda: sgd([1]), TypeError, r"^SGD\.setup: optimization target must be a link, got list$"),
    "update before backward": (lambda: sgd().update(), RuntimeError,
        r"^SGD\.update: the gradient of the parameter 'W' is NaN since .*; call model\.cleargrads\(\) and then loss"),
    "backward without cleargrads": (lambda: update_uncleared(sgd()), RuntimeError,
        r"^SGD\.update: the gradient of the parameter 'W' is NaN since .*; call model\.cleargrads\(\) and then loss"),
    "update of a loss": (lambda: sgd().update(F.sum(x())), TypeError,
        r"^SGD\.update: expected a function that returns the loss, got Variable; write update\(lossfun, .* or loss"),
    "a loss function without return": (lambda: sgd().update(lambda: None), TypeError,
        r"^SGD\.update: expected lossfun to return a Variable, got NoneType$"),
    "update in a compiled function": (lambda: update_compiled(sgd()), xpgrad.TraceError,
        r": SGD\.update: expected a call outside of transformations, got one in compile; use .*optimizer\.compile"),
    "a hook twice": (lambda: add_twice(sgd()), KeyError,
        r"SGD\.add_hook: there is a hook 'WeightDecay' already; remove it, or give another name"),
    "a trainer that stops after a number": (
        lambda: training.Trainer(training.StandardUpdater(iterators.SerialIterator(rows(), 1), sgd()), 20), TypeError,
        r"^Trainer: trigger: expected a pair such as \(1, 'epoch'\) or a function of the trainer, got 20$"),
    # of files
    "a factorization of a vector": (lambda: linalg.lu(A), xpgrad.ShapeError, r"^lu: expected a matrix or a stack"),
    "a sum over an axis that does not exist": (
        lambda: xp.mean(x(), axis=7), xpgrad.AxisError, r"^mean: no such axis: axis=7; got float64 \(2,\) on numpy$"),
    "a median over an axis that does not exist": (
        lambda: ops.median(x(), axis=7), xpgrad.AxisError, r"^median: expected distinct axes of an array with 1 axes"),
    "a split along an axis that does not exist": (
        lambda: np.split(x(), [1], axis=7), xpgrad.AxisError, r"^split: expected distinct axes of an array with 1"),
    "a filter along an axis that does not exist": (
        lambda: ndimage.fourier_shift(x(), 1.0, axis=7), xpgrad.AxisError, r"^fourier_shift: "),
    "cumulative sums of a number": (
        lambda: xp.cumulative_sum(x().sum(), include_initial=True), xpgrad.AxisError, r"no such axis: axis=None"),
    "a loop over a number": (lambda: list(x().sum()), TypeError, r"^iteration over a 0-d Variable$"),
    "a power with a modulus": (lambda: pow(x(), 2, 3), TypeError, r"^pow\(\) takes 2 positional"),
    "an array as an option": (lambda: F.dropout(x(), x()), ValueError, r"^dropout: expected one element"),
    "a Hessian of a vector": (lambda: transforms.hessian(xp.sin)(A), xpgrad.GradientError, r"^hessian: the function"),
    "a file of another model": (lambda: serializers.load_npz(saved(model()), Chain(l1=model())), KeyError,
        r"the file is not of this Chain: the file has no l1/W, l1/b; the model has no W, b; pass strict=False"),
    "a file of a model of another size": (lambda: serializers.load_npz(saved(model()), L.Linear(2, 5)),
        xpgrad.ShapeError, r"^load_npz: W: expected shape \(5, 2\), the file has \(1, 2\)$"),
    "a file that is no npz": (lambda: serializers.load_npz(io.BytesIO(b"text"), model()), ValueError,
        r"^load_npz: the file: expected an \.npz file, got BadZipFile: File is not a zip file$"),
    "object and file exchanged": (lambda: serializers.save_npz(model(), "file"), TypeError,
        r"^save_npz: expected an object with a method serialize, .*, got str; the file is the first argument"),
    "object and file exchanged in loading": (lambda: serializers.load_npz(model(), "file"), TypeError,
        r"^load_npz: load: expected a path or a binary file first, and the object second; got Linear$"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FIRST)
def test_a_first_mistake_is_answered_with_operation_and_advice(mistake: str) -> None:
    call, kind, text = FIRST[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(text, str(caught.value)), str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))


def test_error_of_a_missing_function_can_be_pickled() -> None:
    error = xpgrad.errors.MissingFunction("npu", "linalg.det")
    error.args = (f"solve: {error}",)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.backend, again.function) == (str(error), "npu", "linalg.det")


def test_links_outside_of_init_scope_are_warned_of() -> None:
    chain = Chain()
    with pytest.warns(UserWarning, match=r"Chain\.l1: a Linear assigned outside of init_scope\(\) belongs to no model"):
        chain.l1 = model()


def test_links_in_a_list_are_warned_of() -> None:
    chain = Chain()
    with (
        pytest.warns(UserWarning, match=r"Chain\.layers: the links in a list belong to no model: .*ChainList"),
        chain.init_scope(),
    ):
        chain.layers = [model(), model()]
    with chain.init_scope():
        chain.l1 = model()
        chain.again = [chain.l1]  # with a name and without a warning


def test_an_array_on_another_device_than_the_model_is_named() -> None:
    link = model().to_device("@strict:device1")
    with pytest.raises(
        xpgrad.BackendMismatch, match=r"arrays of two libraries, .* on @numpy and .*; move one with to_dev"
    ):
        link(rows())


def test_a_gradient_written_after_initialisation_is_used() -> None:
    link = model()
    for param in link.params():
        param.grad[...] = 1.0
    sgd(link).update()
    assert float(link.b.array[0]) == np.float32(-0.01)
