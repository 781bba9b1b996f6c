"""`Decomposition`: functions of matrices with several outputs, or whose gradients share computations."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xpgrad.array_api.linalg.checks import EXPECTED, explained, is_numerical, square
from xpgrad.array_api.shared.axes import matrices
from xpgrad.backend.levels import lifted_spec
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import NO_GRAD, switches
from xpgrad.errors import SingularMatrix, XpgradError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.rules import recorded_namespace
from xpgrad.graph.variable import Variable
from xpgrad.types import Array, Namespace

Arrays = Sequence[Any]
Targets = tuple[int, ...]


class Decomposition(FunctionNode):
    """A function of matrices as a class, because it has several outputs, or one computation gives several gradients.

    Its `rule` is a formula like the rules of primitives: it computes with raw arrays in a raw sweep, with Variables in
    a recorded sweep. But its cotangents are gradients as users get them: a change `dy` of an output changes the loss by
    the real part of the sum of ``conj(gy) * dy``.

    Attributes
    ----------
    name : str
        Name of the kernel that computes the outputs.
    of_square : bool
        Whether the matrices of the first input must be square.
    parameters : dict
        Keyword arguments of the kernel.
    keeps_inputs, keeps_outputs : tuple of int
        The inputs and outputs that the rule uses.
    spec : Spec
        Spec of the first input.
    """

    of_library = True
    transposes = True

    name: ClassVar[str]
    of_square: ClassVar[bool] = True
    parameters: Mapping[str, Any] = {}
    keeps_inputs: ClassVar[tuple[int, ...]] = ()
    keeps_outputs: ClassVar[tuple[int, ...]] = ()

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the outputs; `xp` is the namespace of kernels."""
        (square if self.of_square else matrices)(xs[0], self.name)
        outputs: Sequence[Array] = getattr(xp.linalg, self.name)(*xs, **self.parameters)
        return outputs

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return the gradients of the inputs `targets`, of shapes that these broadcast to.

        `xs` and `ys` are the kept inputs and outputs.
        """
        raise NotImplementedError

    def push(self, xp: Namespace, xs: tuple[Array, ...], ts: Arrays) -> tuple[Arrays, Arrays] | None:
        """Return the outputs and their tangents, by a formula that takes less time than the transposition of `rule`.

        `xp` is the namespace of kernels, and tangents may be None. None leaves them to the transposition.
        """
        return None

    @property
    def label(self) -> str:
        """The function's name."""
        return self.name

    @property
    def spec(self) -> Spec:
        """Shape, dtype and device of the first input, lifted to the innermost transformation."""
        return lifted_spec(self.inputs[0].spec)  # type: ignore[no-any-return]  # nodes, after apply

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs, and keep those inputs and outputs that the rule uses."""
        backend = plugins.backend_of(inputs[0])
        try:
            ys = tuple(self.compute(backend.xp, *inputs))
        except XpgradError:
            raise
        except EXPECTED as error:
            raise explained(error, self.name, tuple(map(backend.spec, inputs))) from error
        if self.keeps_inputs:
            self.retain_inputs(self.keeps_inputs)
        if self.keeps_outputs:
            self.retain_outputs(self.keeps_outputs)
        return ys

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients from `rule`, which gets raw arrays unless the sweep is recorded."""
        return self.gradients(target_input_indexes, grad_outputs)

    def gradients(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...], *more: Any
    ) -> tuple[Any, ...]:
        """Return the gradients from `rule`, called with the further arguments `more`."""
        backend = self.spec.backend
        if not self.spec.size:
            specs = [self.inputs[i].spec for i in target_input_indexes]
            make = recorded_namespace(backend).zeros
            return tuple(make(spec.shape, dtype=spec.dtype, device=spec.device) for spec in specs)
        try:
            if not switches().mode & NO_GRAD:
                xs, ys = self.get_retained_inputs(), self.get_retained_outputs()
                xp = recorded_namespace(backend)
                return self._summed(
                    xp, self.rule(xp, grad_outputs, xs, ys, target_input_indexes, *more), target_input_indexes
                )
            gys = [None if gy is None else gy._array for gy in grad_outputs]
            kept, made = tuple((self._kept_inputs or {}).values()), tuple((self._kept_outputs or {}).values())
            raw = self.rule(backend.xp, gys, kept, made, target_input_indexes, *more)
            gxs = self._summed(backend.xp, raw, target_input_indexes)
        except EXPECTED as error:
            if not is_numerical(error):
                raise
            raise SingularMatrix(
                f"{self.name}: there is no gradient, as a matrix of {self.spec!r} is singular or nearly so: {error}"
            ) from error
        return tuple(None if gx is None else Variable(backend.restore(gx), requires_grad=False) for gx in gxs)

    def _summed(self, xp: Namespace, gxs: Arrays, targets: Targets) -> tuple[Any, ...]:
        """Return the gradients of the inputs `targets`, summed over the axes that these were broadcast along."""
        shapes = [self.inputs[i].spec.shape for i in targets]
        return tuple(
            gx if gx is None or gx.shape == shape else xp.sum_to(gx, shape=shape)
            for gx, shape in zip(gxs, shapes, strict=True)
        )
