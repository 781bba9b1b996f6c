"""SciPy's interface to a family of distributions: its parameters as arguments of each method."""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api import broadcast_shapes, exp, floor, reshape, sqrt, where
from xpgrad.backend.plugins import plugins
from xpgrad.boundary import bound_methods
from xpgrad.distributions.distribution import as_parameters
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.member import Member
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import known
from xpgrad.types import Operand, Shape, Size, integers

Shapes = tuple[Any, ...]
Conversion = Callable[..., tuple[Shapes, float]]
"""From SciPy's shapes to those of a family, and a factor of the scale."""
Domain = Callable[..., Sequence[Any]]
"""From shapes, Variables, arrays or numbers, to the conditions that all hold in the domain."""
Method = Callable[..., Variable]


def unchanged(*shapes: Variable) -> tuple[Shapes, float]:
    """Return shapes that are the same in both."""
    return shapes, 1.0


def positive(*shapes: Any) -> Sequence[Any]:
    """Return the conditions of shapes that must be positive."""
    return [x > 0 for x in shapes]


class Univariate:
    """Univariate distribution with SciPy's interface, for Variables and arrays.

    Arguments after the first are the shapes, `loc`, and for a continuous distribution `scale`, in this order or by
    name. They are numbers, Variables or arrays of one library, and broadcast.

    Parameters
    ----------
    name : str
    family : Family
    shapes : str
        Names of the shapes, separated by blanks.
    domain : callable
        Results are NaN where shapes are outside, or a scale is not positive.
    conversion : callable
    """

    options: tuple[str, ...] = ("loc",)

    def __init__(
        self, name: str, family: Family, shapes: str = "", domain: Domain = positive, conversion: Conversion = unchanged
    ) -> None:
        self.name, self.family, self.domain, self.conversion = name, family, domain, conversion
        self.shapes = tuple(shapes.split())

    def __repr__(self) -> str:
        return f"xpgrad.scipy.stats.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> "Frozen":
        """Return the distribution with these parameters, whose methods take points only."""
        return Frozen(self, args, kwargs)

    def cdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the probability of at most `x`."""
        return self._value(Member.cdf, args, kwargs, x)

    def logcdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of `cdf`."""
        return self._value(Member.log_cdf, args, kwargs, x)

    def sf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the probability of more than `x`."""
        return self._value(Member.survival_function, args, kwargs, x)

    def logsf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of `sf`."""
        return self._value(Member.log_survival_function, args, kwargs, x)

    def ppf(self, q: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the inverse of `cdf`, and NaN outside of 0 to 1."""
        return self._value(_quantile(Member.icdf, False), args, kwargs, q)

    def isf(self, q: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the inverse of `sf`, and NaN outside of 0 to 1."""
        return self._value(_quantile(Member.isf, True), args, kwargs, q)

    def mean(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the mean."""
        return self._value(lambda member: member.mean, args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the variance."""
        return self._value(lambda member: member.variance, args, kwargs)

    def std(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the standard deviation."""
        return sqrt(self.var(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the entropy, in nats."""
        return self._value(lambda member: member.entropy, args, kwargs)

    def rvs(self, *args: Any, size: Size | None = None, **kwargs: Any) -> Variable:
        """Return random numbers, drawn from `xpgrad.random`.

        Parameters
        ----------
        *args, **kwargs
            Shapes, `loc` and `scale`.
        size : int or tuple of int, optional
            Shape of the result; by default the broadcast shape of the parameters.

        Raises
        ------
        ValueError
            Parameters are outside of the domain, if their values can be read now; otherwise the numbers are NaN there.
        """
        member, valid = self._of(args, kwargs, least=0.0)
        parameters = [p for p in (*member.shapes, member.loc, member.scale) if isinstance(p, Variable)]
        if valid is not None and all(map(known, parameters)):
            raise ValueError(f"{self.name}.rvs: expected parameters within the domain of the distribution")
        own: Shape = broadcast_shapes(*(p.shape for p in parameters)) if parameters else ()
        shape = own if size is None else integers(size, f"{self.name}.rvs")
        lead = shape[: len(shape) - len(own)]
        return reshape(_masked(member.sample(math.prod(lead), shape[len(lead) :]), valid), shape)

    def _value(self, method: Method, args: Any, kwargs: Any, *points: Any) -> Variable:
        """Return a method of the member of the family with the parameters, and NaN outside of their domain."""
        member, valid, *at = self._of(args, kwargs, *points)
        return _masked(method(member, *at), valid)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters by name."""
        names = (*self.shapes, *self.options)
        given = dict(zip(names, args, strict=False))
        wrong = sorted((kwargs.keys() & given.keys()) | (kwargs.keys() - set(names)))
        missing = [name for name in self.shapes if name not in given and name not in kwargs]
        if len(args) > len(names) or wrong or missing:
            got = f"{len(args)} by position" + (f" and {', '.join(sorted(kwargs))}" if kwargs else "")
            raise TypeError(f"{self.name}: expected the parameters {', '.join(names)}, got {got}")
        return given | kwargs

    def _of(self, args: Any, kwargs: Any, *points: Any, least: float | None = None) -> tuple[Any, ...]:
        """Return the member with parameters, where they are inside of the domain, and points, all of one library.

        A scale of `least` is inside, if it is given. None in place of the second says that all are known to be inside.
        """
        given = self._given(args, kwargs) or ({} if points else {"loc": 0.0})
        found = as_parameters(self.name, *points, *given.values())
        values = dict(zip(given, found[len(points) :], strict=True))

        def conditions(of: dict[str, Any]) -> list[Any]:
            scale = [of["scale"] > 0 if least is None else of["scale"] >= least] if "scale" in of else []
            return [*self.domain(*(of[name] for name in self.shapes)), *scale]

        arrays = {name: x for name, x in values.items() if name != "loc" and not isinstance(given[name], (int, float))}
        raw = given | {name: x._array for name, x in arrays.items()}
        valid = None
        if not (all(map(known, arrays.values())) and _hold(conditions(raw))):
            valid = functools.reduce(operator.and_, conditions(values))
        shapes, factor = self.conversion(*(values[name] for name in self.shapes))
        scale: Any = values.get("scale")
        if factor != 1:
            scale = factor if scale is None else factor * scale
        return Member(self.family, shapes, values.get("loc"), scale), valid, *found[: len(points)]


class Continuous(Univariate):
    """Continuous distribution with SciPy's interface."""

    options = ("loc", "scale")

    def logpdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of the density, -inf outside of the support."""
        return self._value(Member.log_prob, args, kwargs, x)

    def pdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the density."""
        return exp(self.logpdf(x, *args, **kwargs))


class Discrete(Univariate):
    """Discrete distribution with SciPy's interface."""

    def logpmf(self, k: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of the probability of `k`, -inf outside of the support and where it is no integer."""

        def formula(member: Member, k: Variable) -> Variable:
            z = k if member.loc is None else k - member.loc
            return where(z > floor(z), -math.inf, member.log_prob(k))

        return self._value(formula, args, kwargs, k)

    def pmf(self, k: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the probability of `k`."""
        return exp(self.logpmf(k, *args, **kwargs))


for _kind in Univariate, Continuous, Discrete:
    bound_methods(_kind)


class Frozen:
    """Distribution with fixed parameters, which its methods omit."""

    def __init__(self, distribution: Univariate, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        distribution._given(args, kwargs)
        self.dist, self.args, self.kwds = distribution, args, kwargs

    def __getattr__(self, name: str) -> Callable[..., Variable]:
        method: Any = None if name.startswith("_") else getattr(self.dist, name)
        is_method = callable(method)
        if not is_method:
            raise AttributeError(f"{self.dist.name} has no method {name!r}")
        if name in ("mean", "var", "std", "entropy"):
            return lambda: method(*self.args, **self.kwds)
        if name == "rvs":
            return lambda size=None: method(*self.args, size=size, **self.kwds)
        return lambda x: method(x, *self.args, **self.kwds)


def _hold(conditions: Sequence[Any]) -> bool:
    """Return whether all conditions on numbers or arrays are true everywhere."""
    many = [x for x in conditions if not isinstance(x, bool) and x.ndim]
    one = all(x for x in conditions if isinstance(x, bool) or not x.ndim)
    return one and all(plugins.backend_of(x).namespace.all(x) for x in many)


def _masked(y: Variable, valid: Variable | None) -> Variable:
    """Return `y`, and NaN where it is not valid."""
    return y if valid is None else where(valid, y, math.nan)


def _quantile(inverse: Method, upper: bool) -> Method:
    """Return a quantile function that is NaN outside of 0 to 1, with the ends of the support for 0 and 1."""

    def quantile(member: Member, q: Variable) -> Variable:
        if known(q) and _hold((q._array > 0, q._array < 1)):
            return inverse(member, q)
        valid = (q >= 0) & (q <= 1)
        x = inverse(member, where(valid, q, 0.5))
        for level, end in zip((1, 0) if upper else (0, 1), member.ends, strict=True):
            x = where((q == level) & (x != end), end, x)
        return where(valid, x, math.nan)

    return quantile
