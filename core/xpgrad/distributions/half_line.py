"""Distributions of positive numbers, and of numbers from 0 to 1."""

from xpgrad.distributions.distribution import Tabulated, as_parameters
from xpgrad.distributions.families.half_line import BETA, EXPONENTIAL, F_RATIO, GAMMA, PARETO
from xpgrad.distributions.families.member import Member
from xpgrad.types import Operand

__all__ = ["Beta", "Chisquare", "Exponential", "FisherSnedecor", "Gamma", "Pareto"]


class Beta(Tabulated):
    """Beta distribution.

    Parameters
    ----------
    a, b : Variable, array or float
        Shapes.
    """

    _family = BETA
    _support = "[0, 1]"
    _names = ("a", "b")

    def __init__(self, a: Operand, b: Operand) -> None:
        self.a, self.b = as_parameters("Beta", a, b)


class Chisquare(Tabulated):
    """Chi-square distribution.

    Parameters
    ----------
    k : Variable, array or float
        Degrees of freedom.
    """

    _support = "positive"
    _names = ("k",)

    def __init__(self, k: Operand) -> None:
        (self.k,) = as_parameters("Chisquare", k)

    def _member(self) -> Member:
        return Member(GAMMA, (0.5 * self.k,), None, 2.0)


class Exponential(Tabulated):
    """Exponential distribution.

    Parameters
    ----------
    lam : Variable, array or float
        Rate.
    """

    _support = "positive"
    _names = ("lam",)

    def __init__(self, lam: Operand) -> None:
        (self.lam,) = as_parameters("Exponential", lam)

    def _member(self) -> Member:
        return Member(EXPONENTIAL, (), None, 1 / self.lam)


class FisherSnedecor(Tabulated):
    """F distribution, the ratio of two mean squares.

    Parameters
    ----------
    d1, d2 : Variable, array or float
        Degrees of freedom of numerator and denominator.
    """

    _family = F_RATIO
    _support = "positive"
    _names = ("d1", "d2")

    def __init__(self, d1: Operand, d2: Operand) -> None:
        self.d1, self.d2 = as_parameters("FisherSnedecor", d1, d2)


class Gamma(Tabulated):
    """Gamma distribution.

    Parameters
    ----------
    k, theta : Variable, array or float
        Shape and scale.
    """

    _support = "positive"
    _names = ("k", "theta")

    def __init__(self, k: Operand, theta: Operand) -> None:
        self.k, self.theta = as_parameters("Gamma", k, theta)

    def _member(self) -> Member:
        return Member(GAMMA, (self.k,), None, self.theta)


class Pareto(Tabulated):
    """Pareto distribution.

    Parameters
    ----------
    scale, alpha : Variable, array or float
        Lower end of the support, and exponent of the survival function.
    """

    _support = "[scale, inf]"
    _names = ("scale", "alpha")

    def __init__(self, scale: Operand, alpha: Operand) -> None:
        self.scale, self.alpha = as_parameters("Pareto", scale, alpha)

    def _member(self) -> Member:
        return Member(PARETO, (self.alpha,), None, self.scale)
