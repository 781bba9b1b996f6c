"""Distributions of normally distributed numbers and vectors, and of their exponentials."""

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg import diagonal, inv
from xpgrad.distributions.distribution import Distribution, LocationScale, Tabulated, as_parameters, broadcast_shape
from xpgrad.distributions.families.half_line import LOG_NORMAL
from xpgrad.distributions.families.member import Member
from xpgrad.distributions.families.real_line import LOG_ROOT_2_PI, NORMAL
from xpgrad.distributions.sampling import draws_for
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import as_floating
from xpgrad.types import AnyArray, Operand, Shape

__all__ = ["LogNormal", "MultivariateNormal", "Normal"]


class Normal(LocationScale):
    """Normal distribution.

    Parameters
    ----------
    loc : Variable, array or float
        Mean.
    scale, log_scale : Variable, array or float
        Standard deviation, or its logarithm; one of the two.

    Raises
    ------
    ValueError
        Both or none of `scale` and `log_scale` are given.
    """

    def __init__(self, loc: Operand, scale: Operand | None = None, *, log_scale: Operand | None = None) -> None:
        if (scale is None) == (log_scale is None):
            raise ValueError("Normal: expected either scale or log_scale, got " + ("none" if scale is None else "both"))
        self.loc, self._given = as_parameters("Normal", loc, log_scale if scale is None else scale)
        self._logarithmic = scale is None

    @property
    def scale(self) -> Variable:  # type: ignore[override]  # computed, not given
        """Standard deviation."""
        return xpa.exp(self._given) if self._logarithmic else self._given

    @property
    def log_scale(self) -> Variable:
        """Logarithm of the standard deviation."""
        return self._given if self._logarithmic else xpa.log(self._given)

    @property
    def stddev(self) -> Variable:
        return self.scale

    def _member(self) -> Member:
        return Member(NORMAL, (), self.loc, self.scale, self._given if self._logarithmic else None)


class LogNormal(Tabulated):
    """Distribution of the exponential of a normally distributed number.

    Parameters
    ----------
    mu, sigma : Variable, array or float
        Mean and standard deviation of the logarithm.
    """

    _family = LOG_NORMAL
    _support = "positive"
    _names = ("mu", "sigma")

    def __init__(self, mu: Operand, sigma: Operand) -> None:
        self.mu, self.sigma = as_parameters("LogNormal", mu, sigma)


class MultivariateNormal(Distribution):
    """Normal distribution of vectors.

    Parameters
    ----------
    loc : Variable or array, shape (*S, d)
        Mean.
    scale_tril : Variable or array, shape (*S, d, d)
        Lower triangular factor L of the covariance matrix ``L L^T``; the part above the diagonal is ignored.

    Raises
    ------
    ValueError
        `scale_tril` is not given.
    """

    has_rsample = True
    _support = "real"
    _names = ("loc", "scale_tril")

    def __init__(self, loc: AnyArray, *, scale_tril: AnyArray | None = None) -> None:
        if scale_tril is None:
            raise ValueError("MultivariateNormal: expected scale_tril, got None; pass the covariance's Cholesky factor")
        self.loc, self.scale_tril = as_parameters("MultivariateNormal", loc, scale_tril)

    @property
    def d(self) -> int:
        """Length of the vectors."""
        return self.scale_tril.shape[-1]

    @property
    def batch_shape(self) -> Shape:
        return broadcast_shape(self.loc[..., 0], self.scale_tril[..., 0, 0])

    @property
    def event_shape(self) -> Shape:
        return self.loc.shape[-1:]

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def covariance(self) -> Variable:
        factor = xpa.tril(self.scale_tril)
        return xpa.matmul(factor, xpa.matrix_transpose(factor))

    @property
    def variance(self) -> Variable:
        return xpa.sum(xpa.tril(self.scale_tril) ** 2, axis=-1)

    @property
    def entropy(self) -> Variable:
        return self.log_scale_determinant + self.d * (LOG_ROOT_2_PI + 0.5)

    @property
    def log_scale_determinant(self) -> Variable:
        """Logarithm of the absolute determinant of `scale_tril`."""
        return xpa.sum(xpa.log(xpa.abs(diagonal(self.scale_tril))), axis=-1)

    def log_prob(self, x: AnyArray) -> Variable:
        x, *_ = as_floating("MultivariateNormal", (x, self.loc, self.scale_tril))
        z = self.whitened(x - self.loc)
        return -0.5 * xpa.sum(z * z, axis=-1) - self.log_scale_determinant - self.d * LOG_ROOT_2_PI

    def whitened(self, x: Variable) -> Variable:
        """Return vectors multiplied by the inverse of `scale_tril`."""
        return xpa.squeeze(xpa.matmul(inv(xpa.tril(self.scale_tril)), xpa.expand_dims(x, axis=-1)), axis=-1)

    def sample_n(self, n: int) -> Variable:
        draws = draws_for((n, *self.batch_shape, self.d, 1), self.loc, self.scale_tril)
        return self.loc + xpa.squeeze(xpa.matmul(xpa.tril(self.scale_tril), draws.normal()), axis=-1)
