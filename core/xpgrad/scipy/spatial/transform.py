"""`scipy.spatial.transform` of Variables: rotations in three dimensions."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xpgrad import array_api as xpa
from xpgrad.backend.current import current_device
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables, is_operand
from xpgrad.graph.variable import Variable
from xpgrad.listing import listed as _listed
from xpgrad.scipy.linalg.structured import polar
from xpgrad.scipy.operands import beside, inexact, known, root
from xpgrad.types import AnyArray

__all__ = ["Rotation"]


def _vectors(x: AnyArray, count: int, function: str) -> Variable:
    v = inexact(x, function)
    if not v.ndim or v.shape[-1] != count:
        raise ShapeError(f"{function}: expected an array of shape (..., {count}), got {v.shape}")
    return v


def _weights(rows: Variable, weights: AnyArray, function: str) -> Variable:
    w = as_variables(function, rows, weights)[1]
    if w.shape != rows.shape[:1]:
        raise ShapeError(f"{function}: expected a weight for each of {rows.shape[0]}, got shape {w.shape}")
    if known(w) and xpa.any(w < 0):
        raise ValueError(f"{function}: expected weights that are not negative, got {w}")
    return w


class Rotation:
    """Rotations, as quaternions of length 1.

    Create rotations with `from_quat`, `from_rotvec`, `from_euler`, `from_matrix`, `from_mrp` and `identity`.

    Attributes
    ----------
    quat : Variable, shape (..., 4)
        Scalar last.
    """

    def __init__(self, quat: AnyArray) -> None:
        q = _vectors(quat, 4, "Rotation")
        self.quat = q / xpa.linalg.vector_norm(q, axis=-1, keepdims=True)

    @classmethod
    def from_quat(cls, quat: AnyArray, *, scalar_first: bool = False) -> "Rotation":
        """Return rotations from nonzero quaternions, shape (..., 4), by default with the scalar last."""
        q = _vectors(quat, 4, "Rotation.from_quat")
        if known(q) and not xpa.all(xpa.any(q != 0, axis=-1)):
            raise ValueError("Rotation.from_quat: expected quaternions that are not 0, got one that is")
        return cls(xpa.roll(q, -1, axis=-1) if scalar_first else q)

    @classmethod
    def identity(cls, num: int | None = None) -> "Rotation":
        """Return the rotation by no angle, or `num` of them, on the current device."""
        device = current_device()
        xp, dtype = device.backend.namespace, device.backend.default_dtype("float")
        row = xp.eye(4, dtype=dtype, device=device.handle)[3, :]
        return cls(row if num is None else xp.broadcast_to(row, (num, 4)) + 0.0)

    @classmethod
    def concatenate(cls, rotations: Sequence["Rotation"]) -> "Rotation":
        """Return rotations one after the other, of shape (N, 4)."""
        return cls(xpa.concat([xpa.reshape(r.quat, (-1, 4)) for r in rotations], axis=0))

    @classmethod
    def from_mrp(cls, mrp: AnyArray) -> "Rotation":
        """Return rotations from modified Rodrigues parameters, shape (..., 3): axes times ``tan(angle / 4)``."""
        v = _vectors(mrp, 3, "Rotation.from_mrp")
        return cls(xpa.concat([2.0 * v, 1.0 - xpa.sum(v * v, axis=-1, keepdims=True)], axis=-1))

    @classmethod
    def align_vectors(cls, a: AnyArray, b: AnyArray, weights: AnyArray | None = None) -> tuple["Rotation", Variable]:
        """Return the rotation of vectors `b` that fits vectors `a` best, and the root of the remaining squares.

        Parameters
        ----------
        a, b : Variable or array, shape (N, 3)
        weights : Variable or array, shape (N,), optional
        """
        a, b = as_variables("Rotation.align_vectors", a, b)
        if a.ndim != 2 or a.shape[1] != 3 or a.shape != b.shape:
            raise ShapeError(f"Rotation.align_vectors: expected vectors of shape (N, 3), got {a.shape} and {b.shape}")
        w = xpa.ones_like(a[:, 0]) if weights is None else _weights(a, weights, "Rotation.align_vectors")
        u, s, vh = xpa.linalg.svd(xpa.matmul(xpa.matrix_transpose(a) * w, b))
        sign = xpa.where(xpa.linalg.det(u) * xpa.linalg.det(vh) < 0, -1.0, 1.0)
        signs = xpa.stack([xpa.ones_like(s[0]), xpa.ones_like(s[0]), xpa.astype(sign, s.dtype)])
        found = cls.from_matrix(xpa.matmul(u * signs, vh))
        rest = a - found.apply(b)
        return found, root(xpa.sum(w[:, None] * rest * rest))

    def __len__(self) -> int:
        if self.quat.ndim < 2:
            raise TypeError("Rotation: expected several rotations for their number, got one")
        return self.quat.shape[0]

    def __getitem__(self, index: Any) -> "Rotation":
        """Return some of the rotations."""
        return Rotation(self.quat[index])

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
        known = is_operand(angles) and not isinstance(angles, (int, float))
        a = inexact(angles, "Rotation.from_euler") if known else beside(Rotation.identity().quat, angles, "from_euler")
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
        """Return the rotations nearest to matrices, shape (..., 3, 3), with a positive determinant.

        The formula, and so its gradient, is chosen by the largest component of the quaternion.
        """
        m = inexact(matrix, "Rotation.from_matrix")
        if m.shape[-2:] != (3, 3):
            raise ShapeError(f"Rotation.from_matrix: expected an array of shape (..., 3, 3), got {m.shape}")
        if known(m) and not xpa.all(xpa.linalg.det(m) > 0):
            raise ValueError("Rotation.from_matrix: expected matrices with positive determinants, got others")
        m = polar(m)[0]
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

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Variable:
        """Return quaternions, shape (..., 4), scalar last by default; with `canonical` the scalar is not negative."""
        q = xpa.where(self.quat[..., 3:] < 0, -self.quat, self.quat) if canonical else self.quat
        return xpa.roll(q, 1, axis=-1) if scalar_first else q

    def as_mrp(self) -> Variable:
        """Return modified Rodrigues parameters, shape (..., 3), of angles up to half a turn."""
        q = self.as_quat(canonical=True)
        return q[..., :3] / (1.0 + q[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False) -> Variable:
        """Return the angles, shape (..., 3), about three axes, as `from_euler` takes them.

        The second angle is from 0 to half a turn if the first axis is also the last, else within a quarter of a turn.
        At these ends, where only a sum of the other angles matters, there is no derivative.
        """
        if len(seq) != 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")) or seq[1] in (seq[0], seq[2]):
            raise ValueError(f"Rotation.as_euler: expected three axes, each unlike the one before, got {seq!r}")
        # As by J. Bernardes and S. Viollet, "Quaternion to Euler angles conversion" (2022).
        extrinsic = seq.islower()
        i, j, k = ("xyz".index(c) for c in (seq if extrinsic else seq[::-1].lower()))
        proper = i == k
        k = 3 - i - j if proper else k
        sign = float((i - j) * (j - k) * (k - i) // 2)
        q = [self.quat[..., n] for n in range(4)]
        if proper:
            a, b, c, d = q[3], q[i], q[j], q[k] * sign
        else:
            a, b, c, d = q[3] - q[j], q[i] + q[k] * sign, q[j] + q[3], q[k] * sign - q[i]
        middle = 2.0 * xpa.atan2(root(c * c + d * d), root(a * a + b * b))
        half_sum, half_difference = xpa.atan2(b, a), xpa.atan2(d, c)
        first, third = half_sum - half_difference, half_sum + half_difference
        if not proper:
            third, middle = third * sign, middle - 0.5 * math.pi
        angles = (first, middle, third) if extrinsic else (third, middle, first)
        turned = [xpa.where(x < -math.pi, x + 2 * math.pi, xpa.where(x > math.pi, x - 2 * math.pi, x)) for x in angles]
        return xpa.stack(turned, axis=-1) * (180 / math.pi if degrees else 1.0)

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
        apart = square != 0
        sine = xpa.sqrt(xpa.where(apart, square, 1.0))
        return 2.0 * xpa.where(apart, xpa.atan2(sine, xpa.abs(self.quat[..., 3])), 0.0)

    def __pow__(self, n: float) -> "Rotation":
        """Return the rotations by `n` times the angle, within half a turn, about the same axes."""
        return Rotation.from_rotvec(n * self.as_rotvec())

    def mean(self, weights: AnyArray | None = None) -> "Rotation":
        """Return the rotation that is next to these, with a weight for each."""
        q = xpa.reshape(self.quat, (-1, 4))
        w = q if weights is None else q * _weights(q, weights, "Rotation.mean")[:, None]
        return Rotation(xpa.linalg.eigh(xpa.matmul(xpa.matrix_transpose(w), q))[1][:, -1])

    def approx_equal(self, other: "Rotation", atol: float = 1e-8, degrees: bool = False) -> Variable:
        """Return whether the angles between rotations are less than `atol`."""
        return (self * other.inv()).magnitude() < atol * (math.pi / 180 if degrees else 1.0)

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
