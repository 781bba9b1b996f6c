"""PyTorch's functions of shapes, joins, parts and copies, with its names of arguments, for Variables."""

import math
from typing import Any

import torch

from xpgrad import Variable, ops
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, ShapeError
from xpgrad_torch.functions.table import (
    TABLE,
    Function,
    NoRule,
    along_axis,
    axis,
    from_start,
    integers,
    torch_function,
    torch_functions,
    variable,
    with_ndim,
)


@torch_function("flatten")
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Return the same elements, with the axes from `start_dim` to `end_dim` flattened."""
    x = variable(input)
    if not x.ndim:
        return x.reshape(1)
    start, end = (axis(dim, x.ndim, "flatten") for dim in (start_dim, end_dim))
    if start > end:
        raise ValueError(f"torch.flatten: expected start_dim up to end_dim, got {start_dim} and {end_dim}")
    return x.reshape((*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


@torch_function("unflatten")
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Return the same elements, with an axis cut into some."""
    x = variable(input)
    dim = axis(dim, x.ndim, "unflatten")
    return x.reshape((*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


@torch_function("squeeze")
def squeeze(input: Any, dim: Any = None) -> Any:
    """Return the array without axes of length 1; longer axes in `dim` remain, as in PyTorch."""
    x = variable(input)
    given = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    found = [axis(i, x.ndim, "squeeze") for i in given]
    return x.squeeze(tuple(i for i in found if x.shape[i] == 1)) if x.ndim else x


@torch_function("t")
def t(input: Any) -> Any:
    """Return the transpose of a matrix; vectors are unchanged."""
    x = variable(input)
    if x.ndim > 2:
        raise ValueError(f"torch.t: expected two axes at most, got shape {x.shape}; use torch.transpose")
    return x.T if x.ndim == 2 else x


@torch_function("adjoint")
def adjoint(input: Any) -> Any:
    """Return matrices transposed and conjugated."""
    x = variable(input).mT
    return xp.conj(x) if x.dtype.is_complex else x


def _at_least(x: Any, ndim: int) -> Any:
    x = variable(x)
    if ndim == 3 and x.ndim in (1, 2):
        return x[None, :, None] if x.ndim == 1 else x[:, :, None]
    return ops.atleast_nd(x, ndim=ndim)


def _raised(ndim: int) -> None:
    @torch_function(f"atleast_{ndim}d")
    def raised(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
        found = tuple(_at_least(each, ndim) for each in given)
        return found[0] if len(tensors) == 1 and given is tensors else found


for _ndim in (1, 2, 3):
    _raised(_ndim)


@torch_function("hstack")
def hstack(tensors: Any) -> Any:
    """Return arrays joined along the second axis, vectors along the first."""
    parts = [_at_least(each, 1) for each in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@torch_function("column_stack")
def column_stack(tensors: Any) -> Any:
    """Return vectors as the columns of a matrix, matrices joined along the second axis."""
    parts = [variable(each) for each in tensors]
    return xp.concat([x.reshape(-1, 1) if x.ndim < 2 else x for x in parts], axis=1)


@torch_function("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Return arrays joined along an axis; arrays of shape (0,) are skipped, as in PyTorch."""
    parts = [variable(each) for each in tensors]
    full = [x for x in parts if x.shape != (0,)]
    return xp.concat(full if any(x.ndim > 1 for x in full) else parts, axis=dim)


@torch_function("narrow")
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return `length` elements from `start` on along an axis."""
    x = variable(input)
    along, first = _axis_of(x, dim, "narrow"), int(start)
    size = x.shape[along]
    first += size if first < 0 else 0
    if not 0 <= first <= first + length <= size:
        raise ShapeError(f"torch.narrow: expected a part of the {size} elements of dim {dim}, got {start}, {length}")
    return x[(slice(None),) * along + (slice(first, first + length),)]


def _axis_of(x: Any, dim: int, name: str) -> int:
    """Return `dim` as a nonnegative axis of `x`; ShapeError if `x` is 0-d."""
    if not x.ndim:
        raise ShapeError(f"torch.{name}: expected an array with an axis, got a 0-d one")
    return axis(dim, x.ndim, name)


@torch_function("split", "split_with_sizes")
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return parts along an axis with one size, or with the sizes of a list."""
    x = variable(tensor)
    length = x.shape[_axis_of(x, dim, "split")]
    sizes = split_size_or_sections
    if isinstance(sizes, int) and sizes > 0:
        sizes = [min(sizes, length - start) for start in range(0, length, sizes)] or [0]
    elif isinstance(sizes, int):
        sizes = [sizes]
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise ValueError(f"torch.split: expected sizes that add up to {length}, got {list(sizes)}")
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(narrow(x, dim, start, size) for start, size in zip(starts, sizes, strict=True))


@torch_function("chunk")
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return at most `chunks` parts of one size along an axis."""
    x = variable(input)
    if chunks < 1:
        raise ValueError(f"torch.chunk: expected chunks from 1 on, got {chunks}")
    length = x.shape[_axis_of(x, dim, "chunk")]
    return split(x, -(-length // chunks) if length else [0] * chunks, dim)


@torch_function("tensor_split")
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Return parts along an axis: a number of nearly equal parts, or the parts between indices."""
    x, at = variable(input), indices_or_sections
    length = x.shape[_axis_of(x, dim, "tensor_split")]
    if not isinstance(at, (int, list, tuple)):
        raise NoRule
    if isinstance(at, int):
        if at < 1:
            raise ValueError(f"torch.tensor_split: expected sections from 1 on, got {at}")
        at = [i * (length // at) + min(i, length % at) for i in range(1, at)]
    along = (slice(None),) * axis(dim, x.ndim, "tensor_split")
    return tuple(x[(*along, slice(i, j))] for i, j in zip([None, *at], [*at, None], strict=True))


@torch_function("select")
def select(input: Any, dim: int, index: int) -> Any:
    """Return one part along an axis, without it."""
    x = variable(input)
    return x[(slice(None),) * _axis_of(x, dim, "select") + (int(index),)]


@torch_function("index_select")
@along_axis
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Return the elements at `index`, a vector, along an axis."""
    at = integers(index, "index_select")
    (at,) = with_ndim("index_select", index=(at if at.ndim else at.reshape(1), 1))
    along = axis(dim, input.ndim, "index_select")
    return input.take(from_start(at, input.shape[along]), along)


@torch_function("flip")
def flip(input: Any, dims: Any) -> Any:
    """Return the elements in reverse order along axes."""
    return xp.flip(variable(input), axis=(dims,) if isinstance(dims, int) else tuple(dims))


@torch_function("roll")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Return the elements shifted along axes, those beyond the end at the start."""
    shifts, dims = (tuple(each) if isinstance(each, list) else each for each in (shifts, dims))
    return xp.roll(variable(input), shifts, axis=dims)


@torch_function("gather")
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Return the elements at `index` along an axis, with separate indices for each line."""
    if sparse_grad:
        raise TypeError("torch.gather: sparse_grad= is not for Variables, whose gradients are dense")
    x, at = variable(input), integers(index, "gather")
    if not x.ndim or not at.ndim:
        y = gather(x.reshape(-1), axis(dim, x.ndim, "gather"), at.reshape(-1))
        return y.reshape(at.shape)
    along = axis(dim, x.ndim, "gather")
    lengths = [n for i, n in enumerate(x.shape) if i != along]
    wanted = [n for i, n in enumerate(at.shape) if i != along]
    if at.ndim != x.ndim or any(n > m for n, m in zip(wanted, lengths, strict=True)):
        if at.size:
            raise ShapeError(f"torch.gather: expected index within shape {x.shape}, got {at.shape}")
        return xp.zeros(at.shape, dtype=x.dtype, device=x.device)
    near = tuple(slice(None) if i == along else slice(n) for i, n in enumerate(at.shape))
    return xp.take_along_axis(x[near], from_start(at, x.shape[along]), axis=along)


@torch_function("take_along_dim")
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Return the elements at `indices` along an axis, by default of the flattened array."""
    x, at = variable(input), integers(indices, "take_along_dim")
    if dim is None:
        return xp.take_along_axis(x.ravel(), at.ravel(), axis=0)
    along = axis(dim, x.ndim, "take_along_dim")
    (at,) = with_ndim("take_along_dim", indices=(at, x.ndim))
    shape = list(xp.broadcast_shapes(*((*y.shape[:along], 1, *y.shape[along + 1 :]) for y in (x, at))))
    x, at = (xp.broadcast_to(y, shape=(*shape[:along], y.shape[along], *shape[along + 1 :])) for y in (x, at))
    return xp.take_along_axis(x, at, axis=along)


@torch_function("masked_select")
def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask is true, in one axis."""
    x, chosen = xp.broadcast_arrays(variable(input), variable(mask))
    if chosen.dtype != torch.bool:
        raise DtypeError(f"torch.masked_select: expected a boolean mask, got {chosen.dtype}")
    return x.ravel()[chosen.ravel()]


@torch_function("diagonal")
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the diagonals of matrices."""
    return variable(input).diagonal(offset, dim1, dim2)


def _moved(x: Any, name: str, first: Any, second: Any) -> Any:
    """Return `x` with two axes exchanged, or axes moved; numbers have the axes 0 and -1 in PyTorch."""
    if not x.ndim and {first, second} <= {0, -1}:
        return x
    return x.swapaxes(first, second) if name == "swapaxes" else xp.moveaxis(x, first, second)


@torch_function("rot90")
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Return the array rotated by `k` right angles in the plane of two axes."""
    x = variable(input)
    turned = x.swapaxes(*dims)
    return [x, flip(turned, dims[0]), flip(x, dims), flip(turned, dims[1])][k % 4]


@torch_function("meshgrid")
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Return the coordinates of a grid."""
    given = [variable(x) for x in (tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors)]
    if any(x.ndim > 1 for x in given):
        raise ShapeError(f"torch.meshgrid: expected vectors, got shapes {', '.join(str(x.shape) for x in given)}")
    return xp.meshgrid(*(x.ravel() for x in given), indexing=indexing)


def _like(name: str) -> None:
    @torch_function(name)
    def made(
        input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Any:  # fmt: skip
        y = getattr(xp, name)(variable(input), dtype=dtype, device=device and torch.device(device))
        return Variable(y.array) if requires_grad else y


for _name in ("zeros_like", "ones_like", "empty_like"):
    _like(_name)


@torch_function("view_as_real")
def view_as_real(input: Any) -> Any:
    """Return real and imaginary parts along a new last axis."""
    x = variable(input)
    return xp.stack([x.real, x.imag], axis=-1)


@torch_function("pad")
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Return the array padded; `pad` has two numbers for each axis, the last axis first."""
    x = variable(input)
    if len(pad) % 2 or len(pad) > 2 * x.ndim or (mode != "constant" and value):
        raise ValueError(f"torch.nn.functional.pad: expected two numbers for each axis, got {pad}, value={value}")
    pairs = [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)]
    if any(n < 0 for each in pairs for n in each):
        raise NoRule
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    most = [{"circular": n, "reflect": n - 1}.get(mode, math.inf) for n in x.shape[::-1]]
    if any(n > m for m, each in zip(most, pairs, strict=False) for n in each):
        raise ValueError(f"torch.nn.functional.pad: expected less than the axes of {x.shape} for {mode}, got {pad}")
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in modes:
        raise ValueError(f"torch.nn.functional.pad: expected mode {', '.join(modes)}, got {mode!r}")
    return ops.pad(x, widths, modes[mode], **({"constant_values": value or 0} if mode == "constant" else {}))


ROWS: dict[str, Function] = {
    "reshape": lambda input, shape: variable(input).reshape(tuple(shape)),
    "ravel": lambda input: variable(input).ravel(),
    "unsqueeze": lambda input, dim: xp.expand_dims(variable(input), axis=dim),
    "permute": lambda input, dims: variable(input).transpose(tuple(dims)),
    "transpose swapaxes swapdims": lambda input, dim0, dim1: _moved(variable(input), "swapaxes", dim0, dim1),
    "movedim moveaxis": lambda input, source, destination: _moved(variable(input), "moveaxis", source, destination),
    "stack": lambda tensors, dim=0: xp.stack([variable(each) for each in tensors], axis=dim),
    "vstack row_stack": lambda tensors: xp.concat([_at_least(each, 2) for each in tensors], axis=0),
    "dstack": lambda tensors: xp.concat([_at_least(each, 3) for each in tensors], axis=2),
    "unbind": lambda input, dim=0: xp.unstack(variable(input), axis=dim),
    "broadcast_to": lambda input, size: xp.broadcast_to(variable(input), shape=tuple(size)),
    "broadcast_tensors": lambda *tensors: xp.broadcast_arrays(*map(variable, tensors)),
    "fliplr": lambda input: flip(input, _axis_of(variable(input), 1, "fliplr")),
    "flipud": lambda input: flip(input, _axis_of(variable(input), 0, "flipud")),
    "tile": lambda input, dims: xp.tile(variable(input), tuple(dims)),
    "repeat_interleave": lambda input, repeats, dim=None: variable(input).repeat(repeats, dim),
    "take": lambda input, index: variable(input).take(integers(index, "take")),
    "__getitem__": lambda input, index: variable(input)[index],
    "tril": lambda input, diagonal=0: xp.tril(variable(input), k=diagonal),
    "triu": lambda input, diagonal=0: xp.triu(variable(input), k=diagonal),
    "diag": lambda input, diagonal=0: ops.diag(variable(input), diagonal),
    "linalg_diagonal": lambda A, *, offset=0, dim1=-2, dim2=-1: diagonal(A, offset, dim1, dim2),
    "diag_embed": lambda input, offset=0, dim1=-2, dim2=-1: xp.moveaxis(
        ops.create_diagonal(variable(input), offset=offset), (-2, -1), (dim1, dim2)
    ),
    "view_as_complex": lambda input: (x := variable(input))[..., 0] + 1j * x[..., 1],
    "diagflat": lambda input, offset=0: ops.diag(variable(input).ravel(), offset),
    "resolve_conj resolve_neg": lambda input: variable(input),
    "clone": lambda input, *, memory_format=None: variable(input).copy(),
    "detach": lambda input: variable(input).detach(),
    "full_like": lambda input, fill_value, *, dtype=None, device=None, **_options: xp.full_like(
        variable(input), fill_value, dtype=dtype, device=device and torch.device(device)
    ),
    "result_type": lambda tensor1, tensor2: torch.result_type(
        *(torch.empty([0] * bool(x.ndim), dtype=x.dtype) if hasattr(x, "array") else x for x in (tensor1, tensor2))
    ),
}
torch_functions(ROWS)
COPIED = """permute transpose unsqueeze squeeze t unbind diagonal narrow split_with_sizes"""
for _name in COPIED.split():
    TABLE[f"{_name}_copy"] = TABLE[_name]
TABLE["unsafe_chunk"], TABLE["unsafe_split"] = TABLE["chunk"], TABLE["split"]
