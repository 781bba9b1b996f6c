"""Links of normalization over a batch, with moving averages of its statistics."""

import copy
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from xpgrad import functions
from xpgrad.array_api import ones_like, zeros_like
from xpgrad.backend.levels import around
from xpgrad.config import config
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.initializers import Identity, Initializer, _get_initializer, generate_array
from xpgrad.links.parameters import once
from xpgrad.models import Link, Running
from xpgrad.types import AnyArray, integers


class _Averaging(Link):
    """Base of links that count batches and keep moving averages."""

    averages: tuple[str, str]

    def __init__(self, decay: float, eps: float) -> None:
        super().__init__()
        self.N, self.decay, self.eps = 0, decay, eps
        self.register_persistent("N")

    def start_finetuning(self) -> None:
        """Forget how many batches the averages are of: before the averages over a data set are taken once more."""
        self.N = 0

    def serialize(self, serializer: Any) -> None:
        """Save or load; also load averages that are not initialised yet."""
        super().serialize(serializer)
        for name in self.averages:
            loaded = self.__dict__.get(name)
            if loaded is not None and not isinstance(loaded, Variable):
                self.__dict__[name] = None
                setattr(self, name, loaded)

    def _kept(self) -> tuple[Variable, Variable]:
        one, two = self.averages
        return self.__dict__[one], self.__dict__[two]

    def _decay(self, finetune: bool) -> float:
        """Return the weight of the averages before this batch."""
        return 1.0 - 1.0 / max(self.N + (not config.in_recomputing), 1) if finetune else self.decay

    def _count(self, x: Any, finetune: bool) -> None:
        """Count a batch for finetuning, after the update of the averages."""
        if not finetune or config.in_recomputing or not math.prod(x.shape):
            return
        level = around()
        if level is not None:
            level.note_outside("a batch was counted by finetune=True", "call the link outside of the transformation")
        self.N += 1


class BatchNormalization(_Averaging):
    """Mean 0 and variance 1 over the batch, times `gamma`, plus `beta`.

    While ``config.train`` is True, the statistics of the batch are used, and their moving averages are updated, once
    for each call: not again in the recomputation of a checkpoint. A batch without elements leaves the averages
    unchanged. Otherwise the averages are used.

    Parameters
    ----------
    size : int or tuple of int, optional
        Shape of the features; None, for which `axis` is needed, takes it from the first input.
    decay : float
        Weight of the averages before a batch.
    eps : float
        Added to the variance.
    dtype : dtype or str, optional
        Dtype of parameters and averages; by default ``config.dtype``, where `mixed16` means float32.
    use_gamma, use_beta : bool
        Whether there is a factor, and a shift.
    initial_gamma, initial_beta, initial_avg_mean, initial_avg_var : initializer, optional
        By default 1, 0, 0 and 1.
    axis : int or tuple of int, optional
        The axes over which statistics are taken; by default axis 0 and those after the features.

    Attributes
    ----------
    gamma, beta : Parameter, shape `size`, or None
    avg_mean, avg_var : array, shape `size`
        The moving averages of mean and unbiased variance.
    N : int
        Number of batches in the averages of finetuning.

    References
    ----------
    Ioffe, Szegedy: Batch normalization, 2015.
    """

    gamma: Parameter | None = None
    beta: Parameter | None = None
    averages = "avg_mean", "avg_var"
    avg_mean, avg_var = Running(), Running()

    def __init__(
        self, size: int | Sequence[int] | None = None, decay: float = 0.9, eps: float = 2e-5, dtype: Any = None,
        use_gamma: bool = True, use_beta: bool = True, initial_gamma: Any = None, initial_beta: Any = None,
        axis: int | Sequence[int] | None = None, initial_avg_mean: Any = None, initial_avg_var: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(decay, eps)
        if size is None and axis is None:
            raise TypeError(f"{type(self).__name__}: expected size or axis, got neither")
        self.axis = None if axis is None else integers(axis)
        self._dtype = config.dtype if dtype is None else dtype
        self._initial_averages = initial_avg_mean, initial_avg_var
        with self.init_scope():
            if use_gamma:
                self.gamma = Parameter(self._initializer(initial_gamma, 1))
            if use_beta:
                self.beta = Parameter(self._initializer(initial_beta, 0))
        self.avg_mean = self.avg_var = None
        if size is not None:
            self._initialize_params(integers(size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Names and values of the arguments that `repr` shows."""
        yield "size", None if self.avg_mean is None else tuple(self.avg_mean.shape)
        for name in "decay", "eps", "axis":
            yield name, getattr(self, name)
        yield from (("use_gamma", self.gamma is not None), ("use_beta", self.beta is not None))

    def _initializer(self, initializer: Any, default: float) -> Any:
        """Return an initializer for the dtype of the link."""
        found = _get_initializer(default if initializer is None else initializer)
        made: Any = copy.copy(found) if isinstance(found, Initializer) else functools.partial(found)
        made.dtype = self._dtype
        return made

    def _initialize_params(self, shape: Any) -> None:
        averages = zip(self.averages, self._initial_averages, (0, 1), strict=True)
        made = {
            name: generate_array(self._initializer(initial, default), shape, device=self.device)
            for name, initial, default in averages
        }
        for parameter in self.gamma, self.beta:
            if parameter is not None:
                parameter.initialize(shape)
        for name in self.averages[::-1]:  # the mean last, because `initialize_for` tests it
            setattr(self, name, made[name])

    def initialize_for(self, x: Any, **_: Any) -> None:
        """Initialise parameters and averages for inputs like `x` unless already initialised."""
        if self.avg_mean is None:
            along = {a % len(x.shape) for a in self.axis or ()}
            once(
                lambda: self.avg_mean is None,
                self._initialize_params,
                tuple(n for i, n in enumerate(x.shape) if i not in along),
            )

    def forward(self, x: AnyArray, finetune: bool = False) -> Variable:
        """Return `x` normalized; `finetune` averages over all batches with equal weights."""
        self.initialize_for(x)
        mean, var = self._kept()
        gamma = ones_like(mean) if self.gamma is None else self.gamma
        beta = zeros_like(mean) if self.beta is None else self.beta
        if config.train:
            y = self._normalized(x, gamma, beta, mean, var, self._decay(finetune))
            self._count(x, finetune)
            return y
        return functions.fixed_batch_normalization(x, gamma, beta, mean, var, self.eps, axis=self.axis)

    def _normalized(self, x: Any, gamma: Any, beta: Any, mean: Variable, var: Variable, decay: float) -> Variable:
        return functions.batch_normalization(
            x, gamma, beta, eps=self.eps, running_mean=mean, running_var=var, decay=decay, axis=self.axis
        )


class BatchRenormalization(BatchNormalization):
    """Batch normalization, corrected such that training sees nearly the statistics that are used afterwards.

    Parameters
    ----------
    size : int or tuple of int
    rmax, dmax : float
        Bounds of the corrections of deviation and mean; the defaults are batch normalization.
    decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta, initial_avg_mean, initial_avg_var
        As for `BatchNormalization`.

    References
    ----------
    Ioffe: Batch renormalization, 2017.
    """

    def __init__(
        self, size: int | Sequence[int], rmax: float = 1, dmax: float = 0, decay: float = 0.9, eps: float = 2e-5,
        dtype: Any = None, use_gamma: bool = True, use_beta: bool = True, initial_gamma: Any = None,
        initial_beta: Any = None, initial_avg_mean: Any = None, initial_avg_var: Any = None,
    ) -> None:  # fmt: skip
        self.rmax, self.dmax = rmax, dmax
        options = {"initial_avg_mean": initial_avg_mean, "initial_avg_var": initial_avg_var}
        super().__init__(size, decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta, **options)

    def _normalized(self, x: Any, gamma: Any, beta: Any, mean: Variable, var: Variable, decay: float) -> Variable:
        return functions.batch_renormalization(
            x, gamma, beta, self.rmax, self.dmax, eps=self.eps, running_mean=mean, running_var=var, decay=decay,
            update_statistics=True,
        )  # fmt: skip


class DecorrelatedBatchNormalization(_Averaging):
    """Channels of each group with mean 0, variance 1 and no correlation over the batch.

    Parameters
    ----------
    size : int
        Number of channels.
    groups : int
    decay : float
        Weight of the averages before a batch.
    eps : float
        Added to the variances.
    dtype : dtype or str
        Dtype of the averages.
    group_size : int, optional
        Channels of a group, instead of `groups`.

    Attributes
    ----------
    avg_mean : array, shape (groups, group_size)
    avg_projection : array, shape (groups, group_size, group_size)
        The moving averages of the means and of the matrices that take the correlations away.
    N : int
        Number of batches in the averages of finetuning.

    References
    ----------
    Huang, Yang, Lang, Deng: Decorrelated batch normalization, 2018.
    """

    averages = "avg_mean", "avg_projection"
    avg_mean = Running()
    avg_projection = Running()

    def __init__(
        self, size: int, groups: int | None = 16, decay: float = 0.9, eps: float = 2e-5, dtype: Any = "float32", *,
        group_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(decay, eps)
        if groups is None:
            groups = size // (group_size or 16)
        each = group_size or (size // groups if groups else 0)
        if each * groups != size:
            raise ValueError(
                f"DecorrelatedBatchNormalization: size must be groups * group_size, got {size}, {groups} and {each}"
            )
        self.groups = groups
        self.avg_mean = generate_array(_get_initializer(0), (groups, each), dtype=dtype)
        one = generate_array(Identity(), (each, each), dtype=dtype)
        self.avg_projection = generate_array(_get_initializer(one), (groups, each, each), dtype=dtype)

    def forward(self, x: AnyArray, finetune: bool = False) -> Variable:
        """Return `x`, shape (N, size, *D), normalized; for `finetune` see `BatchNormalization`."""
        mean, projection = self._kept()
        if not config.train:
            return functions.fixed_decorrelated_batch_normalization(x, mean, projection, groups=self.groups)
        y = functions.decorrelated_batch_normalization(
            x, groups=self.groups, eps=self.eps, running_mean=mean, running_projection=projection,
            decay=self._decay(finetune),
        )  # fmt: skip
        self._count(x, finetune)
        return y
