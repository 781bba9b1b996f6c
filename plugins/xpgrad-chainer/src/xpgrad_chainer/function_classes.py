"""Classes of functions, as Chainer has them: ``ReLU().apply((x,))`` and classes that derive from `ReLU`."""

import ast
import functools
import inspect
import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, ClassVar

import xpgrad
from xpgrad import FunctionNode, Variable, as_array, force_backprop_mode, grad, no_backprop_mode
from xpgrad.graph.application import other_labels
from xpgrad.graph.function_node import raw_rule
from xpgrad_chainer import functions as further
from xpgrad_chainer.siblings import related

functions: Any = xpgrad.functions
Call = Callable[[tuple[Any, ...], dict[str, Any]], Any]

SEQUENCES = {"concat", "dstack", "hstack", "vstack", "stack"}
"""Functions of one sequence of arrays."""


class FunctionClass(type(FunctionNode)):  # type: ignore[misc]  # the type of a class is known only when it runs
    """The type of these classes: a node of the function is an instance, as in ``isinstance(y.creator, ReLU)``."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        if FunctionOf not in cls.__bases__ or not isinstance(instance, FunctionNode):
            return False
        return bool(instance._impl_name == cls.__name__ or instance.label in (cls.__name__, titles()[cls.__name__]))


class FunctionOf(FunctionNode, metaclass=FunctionClass):
    """A function of Variables as a class, whose arguments are the parameters of the function.

    `apply` calls the function. A class that overrides `forward` or `backward` is a separate `FunctionNode`, and
    inherits the other method from here.
    """

    function: ClassVar[Callable[..., Any]]
    call: ClassVar[Call]
    parameters: ClassVar[inspect.Signature]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        bound = self.parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        self.options = dict(bound.arguments)
        for name, parameter in self.parameters.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self.options |= self.options.pop(name)
        apart = _later(type(self))
        kept = {name: value for name, value in self.options.items() if not (hasattr(type(self), name) or name in apart)}
        vars(self).update(kept)

    @property
    def label(self) -> str:
        """The label of nodes of the function."""
        title, name = titles().get(type(self).__name__), type(self).__name__
        return name if title is None else other_labels.get(title, title if other_labels else name)

    def __getattr__(self, name: str) -> Any:
        """Return what the class has besides the outputs of its last call, such as the indexes of a pooling."""
        found, own = _later(type(self)).get(name), vars(self)
        if found is not None and "_last" in own:
            return found(self.options, *self._last)
        if found is not None and name in own.get("options", {}):
            return self.options[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __call__(self, *inputs: Any) -> Any:
        """Return the outputs, one as itself: old-style functions are called."""
        outputs = self.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def apply(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Return the outputs for Variables or arrays."""
        cls = type(self)
        if cls.forward is not FunctionOf.forward or cls.backward is not FunctionOf.backward or self._hooks:
            return super().apply(inputs)
        self._check_types(tuple(x.array if isinstance(x, Variable) else x for x in inputs))
        return self._outputs(tuple(inputs))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the outputs as arrays."""
        self.retain_inputs(range(len(inputs)))
        with no_backprop_mode():
            return tuple(y.array for y in self._outputs(inputs))

    def forward_cpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the outputs for arrays in host memory."""
        return self.forward(inputs)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Return the gradients of the targets."""
        again = raw_rule.get() is not self
        xs = self.get_retained_inputs()
        if not again:
            xs = tuple(Variable(x.array, requires_grad=i in target_input_indexes) for i, x in enumerate(xs))
        with force_backprop_mode():
            ys = self._outputs(xs)
        known = [(y, gy) for y, gy in zip(ys, grad_outputs, strict=True) if gy is not None]
        outputs, gys = zip(*known, strict=True)
        return grad(outputs, [xs[i] for i in target_input_indexes], gys, enable_double_backprop=again)

    def _outputs(self, inputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        found = type(self).call(inputs, self.options)
        outputs: tuple[Variable, ...] = related(tuple(found)) if isinstance(found, (tuple, list)) else (found,)
        if _later(type(self)):
            self._last = inputs, outputs
        return outputs


@functools.cache
def find_class(name: str) -> type[FunctionOf] | None:
    """Return the class that Chainer calls `name`, or None."""
    text = _table().get(name)
    if text is None:
        return None
    title, _, parameters = text.partition("(")
    function = function_of(name)
    attributes = {
        "__doc__": f"`{title}` of Variables as a class, whose arguments are the parameters of the function.",
        "__module__": __name__,
        "function": staticmethod(function),
        "call": staticmethod(SPECIAL.get(name) or functools.partial(_plain, title, function)),
        "parameters": _signature(parameters.removesuffix(")")),
    }
    return FunctionClass(name, (FunctionOf,), attributes)


def titles() -> dict[str, str]:
    """Return the name of the function of each class."""
    return {name: text.partition("(")[0] for name, text in _table().items()}


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of the class `name`."""
    title = _table()[name].partition("(")[0]
    found: Callable[..., Any] = getattr(further if hasattr(further, title) else functions, title)
    return found


def __getattr__(name: str) -> Any:  # for pickle
    found = find_class(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


@functools.cache
def _table() -> dict[str, str]:
    found: dict[str, str] = tomllib.loads((files("xpgrad_chainer") / "classes.toml").read_text(encoding="utf-8"))
    return found


def _plain(title: str, function: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(inputs, **options) if title in SEQUENCES else function(*inputs, **options)


def _signature(text: str) -> inspect.Signature:
    """Return the signature with these parameters, whose defaults are literals."""
    (parsed,) = ast.parse(f"def f({text}): pass").body
    arguments: Any = getattr(parsed, "args")  # noqa: B009 - of a FunctionDef
    kind = inspect.Parameter
    defaults: list[Any] = [kind.empty] * (len(arguments.args) - len(arguments.defaults))
    defaults += [ast.literal_eval(value) for value in arguments.defaults]
    found = [
        kind(argument.arg, kind.POSITIONAL_OR_KEYWORD, default=default)
        for argument, default in zip(arguments.args, defaults, strict=True)
    ]
    if arguments.kwarg is not None:
        found.append(kind(arguments.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(found)


def _without_dimensions(title: str) -> Call:
    """Return the call of a function that reads the number of dimensions from its input."""

    def call(inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        kept = {name: value for name, value in options.items() if name not in ("ndim", "cover_all")}
        if title.startswith(("convolution", "max")):
            kept["cover_all"] = options["cover_all"]
        return getattr(functions, title)(*inputs, **kept)

    return call


def _batch_normalization(inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the normalized batch; the running averages are in `options`."""
    gamma = as_array(inputs[1])
    for name, fill in (("mean", 0), ("var", 1)):
        if options[name] is None:
            options[name] = gamma * 0 + fill
    return functions.batch_normalization(
        *inputs, eps=options["eps"], running_mean=options["mean"], running_var=options["var"], decay=options["decay"],
        axis=options["axis"],
    )  # fmt: skip


def _negative_sampling(inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the loss; the samples are in `options`."""
    kept = {name: value for name, value in options.items() if name != "samples"}
    loss, options["samples"] = functions.negative_sampling(*inputs, **kept, return_samples=True)
    return loss


SPECIAL: dict[str, Call] = {
    "AddConstant": lambda xs, o: xs[0] + o["value"],
    "AveragePooling2D": lambda xs, o: functions.average_pooling_2d(*xs, o["ksize"], o["stride"], o["pad"]),
    "AveragePoolingND": _without_dimensions("average_pooling_nd"),
    "BatchNormalization": _batch_normalization,
    "ConvolutionND": _without_dimensions("convolution_nd"),
    "Copy": lambda xs, o: functions.copy(*xs, o["out_device"]),
    "DeconvolutionND": _without_dimensions("deconvolution_nd"),
    "DivFromConstant": lambda xs, o: o["value"] / xs[0],
    "EinSum": lambda xs, o: functions.einsum(f"{o['in_subs']}->{o['out_sub']}", *xs),
    "FFT": lambda xs, o: getattr(functions, o["method"])(xs),
    "Forget": lambda xs, o: functions.forget(o["func"], *xs),
    "GroupNormalization": lambda xs, o: functions.group_normalization(xs[0], o["groups"], *xs[1:], eps=o["eps"]),
    "MatMul": lambda xs, o: functions.matmul(*xs, transa=o["transa"], transb=o["transb"]),
    "MaxPoolingND": _without_dimensions("max_pooling_nd"),
    "MulConstant": lambda xs, o: xs[0] * o["value"],
    "NegativeSamplingFunction": _negative_sampling,
    "PadSequence": lambda xs, o: functions.pad_sequence(list(xs), o["length"], o["padding"]),
    "PolyGamma": lambda xs, _: functions.polygamma(*xs),
    "PowConstVar": lambda xs, o: o["value"] ** xs[0],
    "PowVarConst": lambda xs, o: xs[0] ** o["value"],
    "ROIPooling2D": lambda xs, o: functions.roi_pooling_2d(*xs, o["outh"], o["outw"], o["spatial_scale"]),
    "RReLU": lambda xs, o: functions.rrelu(*xs, o["lower"], o["upper"], r=o["r"]),
    "ScatterAdd": lambda xs, o: functions.scatter_add(xs[0], o["slices"], xs[1]),
    "SplitAxis": lambda xs, o: functions.split_axis(*xs, o["indices_or_sections"], o["axis"]),
    "SubFromConstant": lambda xs, o: o["value"] - xs[0],
    "TensorDot": lambda xs, o: functions.tensordot(*xs, axes=o["axes"]),
    "TransposeSequence": lambda xs, _: functions.transpose_sequence(xs),
    "Where": lambda xs, o: functions.where(o["condition"], *xs),
    "Zeta": lambda xs, o: functions.zeta(o["x"], *xs),
}
"""Calls of functions that take their inputs and parameters in another order, or under other names."""
LATER: dict[str, dict[str, Callable[[dict[str, Any], tuple[Any, ...], tuple[Any, ...]], Any]]] = {
    "BatchNormalization": {"running_mean": lambda o, *_: o["mean"], "running_var": lambda o, *_: o["var"]},
    "ClippedReLU": {"cap": lambda o, *_: o["z"]},
    "Dropout": {"dropout_ratio": lambda o, *_: o["ratio"], "mask": lambda o, xs, ys: ys[0].creator.mask},
    "MaxPoolingND": {
        "indexes": lambda o, xs, ys: functions.max_pooling_nd(
            *xs, o["ksize"], o["stride"], o["pad"], o["cover_all"], return_indices=True
        )[1]
    },
    "NegativeSamplingFunction": {"samples": lambda o, *_: o["samples"]},
    "SigmoidCrossEntropy": {
        "count": lambda o, xs, ys: (as_array(xs[1]) != -1).sum() if o["normalize"] else len(as_array(xs[0]))
    },
    "SoftmaxCrossEntropy": {"y": lambda o, xs, ys: as_array(functions.softmax(as_array(xs[0])))},
}
"""Attributes of classes from the options, the inputs and the outputs of the last call."""


def _later(cls: type) -> dict[str, Callable[..., Any]]:
    return next((LATER[base.__name__] for base in cls.__mro__ if base.__name__ in LATER), {})
