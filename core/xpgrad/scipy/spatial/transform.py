"""`scipy.spatial.transform` of Variables: rotations in three dimensions."""

import math
from typing import TYPE_CHECKING

from xpgrad import array_api as xpa
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.listing import listed as _listed
from xpgrad.scipy.operands import inexact
from xpgrad.types import AnyArray

__all__ = ["Rotation"]


def _vectors(x: AnyArray, count: int, function: str) -> Variable:
    v = inexact(x, function)
    if not v.ndim or v.shape[-1] != count:
        raise ShapeError(f"{function}: expected an array of shape (..., {count}), got {v.shape}")
    return v


class Rotation:
    """Rotations, as quaternions of length 1.

    Create rotations with `from_quat`, `from_rotvec`, `from_euler` and `from_matrix`.

    Attributes
    ----------
    quat : Variable, shape (..., 4)
        Scalar last.
    """

    def __init__(self, quat: AnyArray) -> None:
        q = _vectors(quat, 4, "Rotation")
        self.quat = q / xpa.linalg.vector_norm(q, axis=-1, keepdims=True)

    @classmethod
    def from_quat(cls, quat: AnyArray) -> "Rotation":
        """Return rotations from nonzero quaternions, shape (..., 4), scalar last."""
        return cls(quat)

    @classmethod
    def from_rotvec(cls, rotvec: AnyArray, degrees: bool = False) -> "Rotation":
        """Return rotations from vectors along their axes, shape (..., 3), as long as their angles."""
        v = _vectors(rotvec, 3, "Rotation.from_rotvec")
        v = v * (math.pi / 180) if degrees else v
        square = xpa.sum(v * v, axis=-1, keepdims=True)
        small = square < 1e-6  # the series below has an error of square**3
        angle = xpa.sqrt(xpa.where(small, 1.0, square))
        scale = xpa.where(small, 0.5 - square / 48 + square * square / 3840, xpa.sin(0.5 * angle) / angle)
        cosine = xpa.where(small, 1.0 - square / 8 + square * square / 384, xpa.cos(0.5 * angle))
        return cls(xpa.concat([v * scale, cosine], axis=-1))

    @classmethod
    def from_euler(cls, seq: str, angles: AnyArray, degrees: bool = False) -> "Rotation":
        """Return rotations by angles, shape (..., K) or (), about K axes one after the other.

        Axes of `seq` are "x", "y", "z" that stay in place, or "X", "Y", "Z" that turn along.
        """
        if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
            raise ValueError(f"Rotation.from_euler: expected one to three of 'xyz' or of 'XYZ', got {seq!r}")
        a = inexact(angles, "Rotation.from_euler")
        a = a[..., None] if len(seq) == 1 and (not a.ndim or a.shape[-1] != 1) else a
        a = _vectors(a, len(seq), "Rotation.from_euler") * (math.pi / 360 if degrees else 0.5)
        found: Rotation | None = None
        for i, axis in enumerate(seq):
            sine, cosine = xpa.sin(a[..., i]), xpa.cos(a[..., i])
            zero = xpa.zeros_like(sine)
            parts = [sine if axis.lower() == each else zero for each in "xyz"]
            step = cls(xpa.stack([*parts, cosine], axis=-1))
            found = step if found is None else step * found if axis.islower() else found * step
        assert found is not None
        return found

    @classmethod
    def from_matrix(cls, matrix: AnyArray) -> "Rotation":
        """Return rotations from orthogonal matrices, shape (..., 3, 3), with determinant 1.

        The formula, and so its gradient, is chosen by the largest component of the quaternion.
        """
        m = inexact(matrix, "Rotation.from_matrix")
        if m.shape[-2:] != (3, 3):
            raise ShapeError(f"Rotation.from_matrix: expected an array of shape (..., 3, 3), got {m.shape}")
        d = [m[..., i, i] for i in range(3)]
        trace = d[0] + d[1] + d[2]
        skew = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
        even = {(i, j): m[..., i, j] + m[..., j, i] for i in range(3) for j in range(3) if i != j}
        rows = []
        for i in range(3):
            rows.append([1.0 - trace + 2.0 * d[i] if j == i else even[i, j] for j in range(3)] + [skew[i]])
        rows.append([*skew, 1.0 + trace])
        found, best = xpa.stack(rows[3], axis=-1), trace[..., None]
        for i in range(3):
            larger = d[i][..., None] > best
            found = xpa.where(larger, xpa.stack(rows[i], axis=-1), found)
            best = xpa.where(larger, d[i][..., None], best)
        return cls(found)

    def as_quat(self, canonical: bool = False) -> Variable:
        """Return quaternions, shape (..., 4), scalar last; with `canonical` the scalar is not negative."""
        return xpa.where(self.quat[..., 3:] < 0, -self.quat, self.quat) if canonical else self.quat

    def as_matrix(self) -> Variable:
        """Return matrices, shape (..., 3, 3)."""
        x, y, z, w = (self.quat[..., i] for i in range(4))
        rows = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
        return xpa.stack([xpa.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> Variable:
        """Return vectors along the axes, shape (..., 3), as long as the angles, at most half a turn."""
        q = self.as_quat(canonical=True)
        v, w = q[..., :3], q[..., 3:]
        square = xpa.sum(v * v, axis=-1, keepdims=True)
        small = square < 1e-6
        sine = xpa.sqrt(xpa.where(small, 1.0, square))
        scale = xpa.where(small, 2.0 + square / 3 + 3 * square * square / 20, 2.0 * xpa.atan2(sine, w) / sine)
        return v * scale * (180 / math.pi if degrees else 1.0)

    def magnitude(self) -> Variable:
        """Return the angles, from 0 to half a turn; the derivative at 0 is 0."""
        v = self.quat[..., :3]
        square = xpa.sum(v * v, axis=-1)
        apart = square > 0
        sine = xpa.sqrt(xpa.where(apart, square, 1.0))
        return 2.0 * xpa.where(apart, xpa.atan2(sine, xpa.abs(self.quat[..., 3])), 0.0)

    def inv(self) -> "Rotation":
        """Return the inverse rotations."""
        return Rotation(xpa.concat([-self.quat[..., :3], self.quat[..., 3:]], axis=-1))

    def apply(self, vectors: AnyArray, inverse: bool = False) -> Variable:
        """Return vectors, shape (..., 3), rotated, or rotated back."""
        q, v = as_variables("Rotation.apply", self.quat, _vectors(vectors, 3, "Rotation.apply"))
        m = Rotation(q).as_matrix()
        return xpa.matmul(xpa.matrix_transpose(m) if inverse else m, v[..., None])[..., 0]

    def __mul__(self, other: "Rotation") -> "Rotation":
        """Return the rotations `other` followed by these."""
        p, q = as_variables("Rotation", self.quat, other.quat)
        u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
        (x1, y1, z1), (x2, y2, z2) = ([each[..., i] for i in range(3)] for each in (u, v))
        product = xpa.stack([y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2], axis=-1)
        return Rotation(xpa.concat([a * v + b * u + product, a * b - xpa.sum(u * v, axis=-1, keepdims=True)], axis=-1))


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
