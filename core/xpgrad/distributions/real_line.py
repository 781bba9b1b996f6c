"""Distributions of real numbers with a location and a scale."""

import warnings

from xpgrad.array_api import log, where
from xpgrad.distributions.distribution import LocationScale, Tabulated, as_parameters
from xpgrad.distributions.families.half_line import UNIFORM
from xpgrad.distributions.families.member import Member
from xpgrad.distributions.families.real_line import CAUCHY, GUMBEL, LAPLACE, STUDENT
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import as_floating
from xpgrad.types import AnyArray, Operand

__all__ = ["Cauchy", "Gumbel", "Laplace", "StudentT", "Uniform"]


class Cauchy(LocationScale):
    """Cauchy distribution, whose mean and variance are NaN, with a `RuntimeWarning`.

    Parameters
    ----------
    loc, scale : Variable, array or float
    """

    _family = CAUCHY

    @property
    def mean(self) -> Variable:
        warnings.warn("Mean of the Cauchy distribution is undefined.", RuntimeWarning, stacklevel=2)
        return self._member().mean

    @property
    def variance(self) -> Variable:
        warnings.warn("Variance of the Cauchy distribution is undefined.", RuntimeWarning, stacklevel=2)
        return self._member().variance


class Gumbel(LocationScale):
    """Gumbel distribution of maxima.

    Parameters
    ----------
    loc, scale : Variable, array or float
    """

    _family = GUMBEL


class Laplace(LocationScale):
    """Laplace distribution.

    Parameters
    ----------
    loc, scale : Variable, array or float
        Mean and mean absolute deviation.
    """

    _family = LAPLACE


class StudentT(LocationScale):
    """Student's t distribution.

    Parameters
    ----------
    nu : Variable, array or float
        Degrees of freedom.
    loc, scale : Variable, array or float
    """

    _names = ("nu", "loc", "scale")

    def __init__(self, nu: Operand, loc: Operand = 0.0, scale: Operand = 1.0) -> None:
        self.nu, self.loc, self.scale = as_parameters("StudentT", nu, loc, scale)

    def _member(self) -> Member:
        return Member(STUDENT, (self.nu,), self.loc, self.scale)


class Uniform(Tabulated):
    """Uniform distribution on an interval.

    Parameters
    ----------
    low, high : Variable, array or float
        Ends of the interval, both or none.
    loc, scale : Variable, array or float
        Lower end and length of the interval, instead of `low` and `high`.

    Raises
    ------
    ValueError
        The interval is specified twice or not at all.
    """

    _support = "[low, high]"

    def __init__(
        self, *, low: Operand | None = None, high: Operand | None = None, loc: Operand | None = None,
        scale: Operand | None = None,
    ) -> None:  # fmt: skip
        ends, placed = low is not None and high is not None, loc is not None and scale is not None
        if ends == placed:
            raise ValueError(
                f"Uniform: expected either low and high, or loc and scale, got {'both' if ends else 'neither'}"
            )
        self._ends = ends
        given: tuple[Operand | None, Operand | None] = (low, high) if ends else (loc, scale)
        self.low, self._given = as_parameters("Uniform", *given)

    @property
    def loc(self) -> Variable:
        """Lower end."""
        return self.low

    @property
    def high(self) -> Variable:
        """Upper end."""
        return self._given if self._ends else self.low + self._given

    @property
    def scale(self) -> Variable:
        """Length of the interval."""
        return self._given - self.low if self._ends else self._given

    @property
    def params(self) -> dict[str, Variable]:
        if self._ends:
            return {"low": self.low, "high": self._given}
        return {"loc": self.low, "scale": self._given}

    def log_prob(self, x: AnyArray) -> Variable:
        x, *_ = as_floating("Uniform", (x, self.low, self._given))
        outside = (x < self.low) | (x > self.high)
        return where(outside, -float("inf"), 0 * x - log(self.scale))

    def _member(self) -> Member:
        return Member(UNIFORM, (), self.low, self.scale)
