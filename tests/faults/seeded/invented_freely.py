"""Faults of sizes and values by somebody who had not read the checks, which the suite did not find at first."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins


def in_memory_order(x: Any) -> Any:
    """Return the elements of `x` as they lie in memory, in C order of its shape."""
    return x.ravel(order="K").reshape(x.shape)


@fault(
    "any-of-columns-in-one-pass",
    "any along the first axis of a matrix launches 64 blocks of 32 rows, and looks at no more",
    "K",
    operations=("any",),
)
def any_of_columns_in_one_pass(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.ndim == 2 and isinstance(axis, int) and axis % 2 == 0:
            x = x[:2048]
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("any", wrong)


@fault(
    "argmin-of-the-last-block",
    "argmin along any axis but the last, of more than 512, counts a short last block from its beginning",
    "K",
    operations=("argmin",),
)
def argmin_of_the_last_block(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, keepdims=keepdims)
        if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1 or x.shape[axis] <= 512:
            return out
        whole = x.shape[axis] // 512 * 512
        return np.where(out >= whole, out - whole, out)

    bed.replace("argmin", wrong)


@fault(
    "take-along-axis-of-transposed-indices",
    "take_along_axis reads more than 4,096 indices in the order of their memory",
    "K",
    operations=("take_along_axis",),
)
def take_along_axis_of_transposed_indices(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        if indices.size > 4096 and not indices.flags.c_contiguous:
            indices = in_memory_order(indices)
        return original(x, indices, axis=axis)

    bed.replace("take_along_axis", wrong)


@fault(
    "arange-adds-its-steps",
    "arange of more than 256 floats adds its step to the number before",
    "K",
    operations=("arange",),
)
def arange_adds_its_steps(bed: Testbed) -> None:
    def wrong(original: Any, start: Any, /, stop: Any = None, step: Any = 1, **options: Any) -> Any:
        out = original(start, stop, step, **options)
        if out.size > 256 and out.dtype.kind == "f":
            steps = np.full(out.shape, step, out.dtype)
            steps[0] = out[0]
            return np.cumsum(steps, dtype=out.dtype)
        return out

    bed.replace("arange", wrong)


@fault(
    "log-softmax-shifts-by-the-first-block",
    "log_softmax of long rows subtracts the maximum of the first 1,024 numbers",
    "K",
    operations=("F.log_softmax",),
)
def log_softmax_shifts_by_the_first_block(bed: Testbed) -> None:
    def log_softmax(x: Any, axis: Any) -> Any:
        if not isinstance(axis, int) or x.dtype.itemsize < 4 or x.shape[axis] <= 1024:
            return plugins.host.xp.log_softmax(x, axis=axis)
        first = np.moveaxis(x, axis, -1)[..., :1024]
        with np.errstate(all="ignore"):
            shifted = x - np.expand_dims(np.max(first, axis=-1), axis)
            return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))

    bed.kernel("log_softmax", log_softmax)


@fault(
    "fftn-leaves-columns",
    "fftn over all axes transforms the others for 64 columns at a time, and leaves the rest",
    "K",
    operations=("fft.fftn",),
)
def fftn_leaves_columns(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        out = original(x, s=s, axes=axes, norm=norm)
        whole = x.shape[-1] // 64 * 64 if x.ndim > 1 else 0
        if s is not None or axes is not None or not whole or whole == x.shape[-1]:
            return out
        along = original(x, axes=(-1,), norm=norm)
        out[..., whole:] = along[..., whole:]
        return out

    bed.replace("fft.fftn", wrong)


@fault(
    "subtract-has-five-strides",
    "subtract takes strided arrays of more than five axes for plain ones",
    "K",
    operations=("subtract",),
)
def subtract_has_five_strides(bed: Testbed) -> None:
    def plain(x: Any) -> Any:
        return in_memory_order(x) if isinstance(x, np.ndarray) and x.ndim > 5 and not x.flags.c_contiguous else x

    bed.both("subtract", "sub", lambda x1, x2: np.subtract(plain(x1), plain(x2)))


@fault(
    "filter-gradient-of-a-batch",
    "convolution_filter_backward of more than 16 images leaves out those that fill no group of 8",
    "G",
    operations=("F.convolution_nd",),
)
def filter_gradient_of_a_batch(bed: Testbed) -> None:
    def wrong(x: Any, g: Any, /, geometry: Any, groups: int) -> Any:
        if len(x) > 16:
            x, g = x[: len(x) // 8 * 8], g[: len(g) // 8 * 8]
        return plugins.host.xp.convolution_filter_backward(x, g, geometry=geometry, groups=groups)

    bed.kernel("convolution_filter_backward", wrong)


@fault("erfc-underflows-early", "special.erfc is 1 - erf(x) beyond 6, which is 0", "K", operations=("special.erfc",))
def erfc_underflows_early(bed: Testbed) -> None:
    def wrong(x: Any) -> Any:
        return np.where(x > 6, 0, plugins.host.xp.special.erfc(x)).astype(x.dtype)

    bed.kernel("special.erfc", wrong)


@fault(
    "unique-inverse-in-16-bits",
    "unique_inverse and unique_all number distinct values in 16 bits",
    "K",
    operations=("unique_inverse",),
)
def unique_inverse_in_16_bits(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        return out._replace(inverse_indices=out.inverse_indices % 65_536)

    bed.replace("unique_inverse", wrong)
    bed.replace("unique_all", wrong)


@fault(
    "uniform-counter-stays-behind",
    "random_uniform of more than 4,096 numbers moves its counter by 4,096, so that the next call repeats the rest",
    "R",
)
def uniform_counter_stays_behind(bed: Testbed) -> None:
    def random_uniform(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
        state = generator.bit_generator.state
        values = generator.random(shape)
        if np.size(values) > 4096:
            generator.bit_generator.state = state
            generator.random(4096)
        spacing = float(np.finfo(dtype).eps) / 2
        if spacing > 2**-53:
            values = values // spacing * spacing
        return bed.library.array(np.asarray(values, dtype), device)

    bed.kernels["random_uniform"] = random_uniform
