"""SciPy's interface to a family of distributions: its parameters as arguments of each method."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.array_api import broadcast_shapes, exp, floor, reshape, sqrt, where
from xpgrad.boundary import bound_methods
from xpgrad.distributions.distribution import as_parameters
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.member import Member
from xpgrad.graph.variable import Variable
from xpgrad.types import Operand, Shape, Size, integers

Shapes = tuple[Any, ...]
Conversion = Callable[..., tuple[Shapes, float]]
"""From SciPy's shapes to those of a family, and a factor of the scale."""


def unchanged(*shapes: Variable) -> tuple[Shapes, float]:
    """Return shapes that are the same in both."""
    return shapes, 1.0


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
    conversion : callable
    """

    options: tuple[str, ...] = ("loc",)

    def __init__(self, name: str, family: Family, shapes: str = "", conversion: Conversion = unchanged) -> None:
        self.name, self.family, self.conversion = name, family, conversion
        self.shapes = tuple(shapes.split())

    def __repr__(self) -> str:
        return f"xpgrad.scipy.stats.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> "Frozen":
        """Return the distribution with these parameters, whose methods take points only."""
        return Frozen(self, args, kwargs)

    def cdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the probability of at most `x`."""
        at, member = self._at(x, args, kwargs)
        return member.cdf(at)

    def logcdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of `cdf`."""
        at, member = self._at(x, args, kwargs)
        return member.log_cdf(at)

    def sf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the probability of more than `x`."""
        at, member = self._at(x, args, kwargs)
        return member.survival_function(at)

    def logsf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of `sf`."""
        at, member = self._at(x, args, kwargs)
        return member.log_survival_function(at)

    def ppf(self, q: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the inverse of `cdf`, and NaN outside of 0 to 1."""
        at, member = self._at(q, args, kwargs)
        return _between(at, member.icdf)

    def isf(self, q: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the inverse of `sf`, and NaN outside of 0 to 1."""
        at, member = self._at(q, args, kwargs)
        return _between(at, member.isf)

    def mean(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the mean."""
        return self._member(args, kwargs).mean

    def var(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the variance."""
        return self._member(args, kwargs).variance

    def std(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the standard deviation."""
        return sqrt(self.var(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the entropy, in nats."""
        return self._member(args, kwargs).entropy

    def rvs(self, *args: Any, size: Size | None = None, **kwargs: Any) -> Variable:
        """Return random numbers, drawn from `xpgrad.random`.

        Parameters
        ----------
        *args, **kwargs
            Shapes, `loc` and `scale`.
        size : int or tuple of int, optional
            Shape of the result; by default the broadcast shape of the parameters.
        """
        member = self._member(args, kwargs)
        parameters = [p for p in (*member.shapes, member.loc, member.scale) if isinstance(p, Variable)]
        own: Shape = broadcast_shapes(*(p.shape for p in parameters)) if parameters else ()
        shape = own if size is None else integers(size, f"{self.name}.rvs")
        lead = shape[: len(shape) - len(own)]
        return reshape(member.sample(math.prod(lead), shape[len(lead) :]), shape)

    def _at(self, x: Any, args: Any, kwargs: Any) -> tuple[Variable, Member]:
        """Return a point, and the member of the family with the parameters, all of one library."""
        given = self._given(args, kwargs)
        x, *values = as_parameters(self.name, x, *given.values())
        return x, self._of(dict(zip(given, values, strict=True)))

    def _member(self, args: Any, kwargs: Any) -> Member:
        given = self._given(args, kwargs) or {"loc": 0.0}
        return self._of(dict(zip(given, as_parameters(self.name, *given.values()), strict=True)))

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

    def _of(self, given: dict[str, Variable]) -> Member:
        shapes, factor = self.conversion(*(given[name] for name in self.shapes))
        scale: Any = given.get("scale")
        if factor != 1:
            scale = factor if scale is None else factor * scale
        return Member(self.family, shapes, given.get("loc"), scale)


class Continuous(Univariate):
    """Continuous distribution with SciPy's interface."""

    options = ("loc", "scale")

    def logpdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of the density, -inf outside of the support."""
        at, member = self._at(x, args, kwargs)
        return member.log_prob(at)

    def pdf(self, x: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the density."""
        return exp(self.logpdf(x, *args, **kwargs))


class Discrete(Univariate):
    """Discrete distribution with SciPy's interface."""

    def logpmf(self, k: Operand, *args: Any, **kwargs: Any) -> Variable:
        """Return the logarithm of the probability of `k`, -inf outside of the support and where it is no integer."""
        at, member = self._at(k, args, kwargs)
        return where(at == floor(at), member.log_prob(at), -math.inf)

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


def _between(q: Variable, inverse: Callable[[Any], Variable]) -> Variable:
    """Return ``inverse(q)``, and NaN where `q` is no probability."""
    valid = (q >= 0) & (q <= 1)
    return where(valid, inverse(where(valid, q, 0.5)), math.nan)
