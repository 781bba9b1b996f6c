"""The launches that compute a fused group, as texts and numbers of arrays."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Elementwise:
    """A loop over `size` points, for `cupy.ElementwiseKernel`: all its arguments are raw.

    Attributes
    ----------
    operation : str
    reads, writes : dict from int to str
        The numbers of its arrays, and their dtypes.
    size : int
    """

    operation: str
    reads: dict[int, str]
    writes: dict[int, str]
    size: int


@dataclass(frozen=True, slots=True)
class OverRows:
    """A reduction over the rows, for `cupy.ReductionKernel`.

    Attributes
    ----------
    preamble : str
        Defines the function ``mapped`` of one element of each array in `reads`.
    identity, combined, inner, dtype : str
        Parts of the reduction; `inner` is the C++ type of the combined values.
    reads : dict from int to str
    shapes : dict from int to tuple of int
        The shape in which each array that is read broadcasts to rows and columns.
    write : int
    """

    preamble: str
    identity: str
    combined: str
    inner: str
    dtype: str
    reads: dict[int, str]
    shapes: dict[int, tuple[int, int]]
    write: int
    space: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BlockKernel:
    """A kernel for `cupy.RawKernel`, whose threads work together: it takes contiguous arrays.

    Attributes
    ----------
    source, name : str
    reads, writes : tuple of int
    blocks : int
    threads : tuple of (int, int)
    """

    source: str
    name: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    blocks: int
    threads: tuple[int, int]


Launch = Elementwise | OverRows | BlockKernel


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The launches that compute a group.

    Attributes
    ----------
    inputs : int
        The number of inputs: they are the first arrays.
    made : tuple of (tuple of int, str)
        Shapes and dtypes of the arrays after these.
    launches : tuple of Launch
    outputs : tuple of int
    """

    inputs: int
    made: tuple[tuple[tuple[int, ...], str], ...]
    launches: tuple[Launch, ...]
    outputs: tuple[int, ...]
