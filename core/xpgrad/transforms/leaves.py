"""The leaves of users' trees: Variables, arrays and scalars, distinguished and converted to Variables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import same_place, spec_of
from xpgrad.backend.current import current_device
from xpgrad.backend.levels import lifted_spec, live
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import DtypeError, GradientError, UnknownArray
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, constant_variable, inside, leaf_variable
from xpgrad.transforms.trees import Path, Structure, leaves_in, where
from xpgrad.types import Array, Namespace

UNTRANSPOSED = (
    "so forward mode cannot transpose it; compute it by functions of Variables, or write the function as a custom_vjp "
    "and give its tangent by defjvp"
)


@primitive(linear=("x",), x=lambda xp, gy: gy)
def alias(xp: Namespace, x: Array, /) -> Array:
    """The same array as a separate value in the graph, so that gradients exclude other uses of `x`."""
    return x


def root(array: Array) -> Variable:
    """Return a Variable over `array` as an argument of a user's function; its copies pass on gradients."""
    x = Variable(array)
    x._node.own_extra().passed = True
    return x


def root_over(x: Variable) -> Variable:
    """Return a `root` over the array of `x`, which belongs to the innermost level."""
    made = leaf_variable(x._array, x._node.spec, True)
    made._node.own_extra().passed = True
    return made


def is_array(leaf: Any) -> bool:
    """Return whether a leaf is a Variable or an array of a backend."""
    if isinstance(leaf, Variable) or type(leaf) in plugins.by_type:
        return True
    if plugins.is_scalar(leaf) or isinstance(leaf, (str, bytes)) or callable(leaf):
        return False
    try:
        plugins.backend_of(leaf)
    except UnknownArray:
        return False
    return True


def backend_among(leaves: Iterable[Any], scalar: Any) -> Backend | None:
    """Return the backend of a library's scalar; None if the arrays are of other libraries, to which it is a number."""
    backend = plugins.backend_of_scalar(scalar)
    beside = {type(as_array(x)) for x in leaves if is_array(x)} if backend is not None else ()
    return None if backend is None or (beside and beside.isdisjoint(backend.array_types)) else backend


def is_differentiable(leaf: Any) -> bool:
    """Return whether a leaf is a Variable or an array of floating-point numbers."""
    if not is_array(leaf):
        return False
    array = as_array(leaf)
    return array is not None and plugins.backend_of(array).is_kind(array.dtype, ("real floating", "complex floating"))


def variables_in(tree: Any) -> list[Variable]:
    """Return the leaves of `tree` that are Variables, in any order."""
    found = []
    for leaf in leaves_in(tree):
        if isinstance(leaf, Variable):
            found.append(leaf)
    return found


def requires_grad(variables: Iterable[Variable]) -> bool:
    """Return whether any of these requires a gradient."""
    return any(x._node.requires_grad for x in variables)


def known_leaf(leaf: Any) -> Variable | None:
    """Return a Variable, or an array of a known type, as a Variable of the innermost level; None for other leaves."""
    if isinstance(leaf, Variable):
        return None if leaf._array is None else inside(leaf) if live else leaf
    return constant_variable(leaf) if type(leaf) in plugins.by_type else None


def as_leaf(leaf: Any, what: str, path: Path = ()) -> Variable:
    """Return a leaf as a Variable; a scalar becomes a 0-d array, a Python scalar on the current device.

    Parameters
    ----------
    leaf : object
    what, path : str and tuple
        Name of the tree in messages, and the path of the leaf.

    Raises
    ------
    UnknownArray
        It is neither a Variable, nor an array, nor a scalar.
    """
    x = known_leaf(leaf)
    if x is not None:
        return x
    if isinstance(leaf, Variable):
        raise UnknownArray(f"{what}{where(path)}: the Variable is uninitialised; set its array first")
    if not plugins.is_scalar(leaf):
        spec_of(leaf, f"{what}{where(path)}")
        return constant_variable(leaf)
    backend = plugins.backend_of_scalar(leaf)
    if backend is not None:
        return constant_variable(backend.asarray(leaf))
    device = current_device()
    return constant_variable(device.backend.restore(device.backend.asarray(leaf, device=device.handle)))


def as_leaves(
    leaves: Iterable[Any], structure: Structure, what: str, places: Sequence[int] | None = None
) -> list[Variable]:
    """Return each leaf of a tree converted by `as_leaf`, with its path after `what` in errors.

    `places` are the positions of the leaves in the tree, by default all.
    """
    found: list[Variable] = []
    for i, leaf in enumerate(leaves):
        x = known_leaf(leaf)
        if x is None:
            x = as_leaf(leaf, what, structure.paths()[i if places is None else places[i]])
        found.append(x)
    return found


def cotangents(
    structure: Structure, tree: Any, references: list[Variable], what: str, counts: Sequence[bool] | None = None
) -> list[Variable]:
    """Return the leaves of `tree` as Variables, each of shape, dtype and device of its reference.

    In a transformation they are lifted, although a reference may have been computed outside.

    Parameters
    ----------
    structure : Structure
    tree : tree
    references : list of Variable
    what : str
        At the beginning of errors.
    counts : sequence of bool, optional
        Mask of leaves with a reference, by default all; the remaining leaves are ignored.

    Raises
    ------
    StructureError, GradientError
        The structure differs, or shape, dtype or device of a leaf.
    """
    given, places = list(structure.leaves_of(tree, what)), None
    if counts is not None and not all(counts):
        places = [i for i, n in enumerate(counts) if n]
        given = [given[i] for i in places]
    for i, (leaf, reference) in enumerate(zip(given, references, strict=True)):
        spec = reference._node.spec
        if not spec.shape and plugins.is_scalar(leaf):
            given[i] = spec.backend.restore(spec.backend.asarray(leaf, dtype=spec.dtype, device=spec.device))
    found = as_leaves(given, structure, what, places)
    for i, (made, reference) in enumerate(zip(found, references, strict=True)):
        spec = reference._node.spec
        if made._node.spec is not spec and not same_place(made._node.spec, lifted_spec(spec)):
            got = f"{made._node.spec!r} on {made.device}"
            path, own = structure.paths()[i if places is None else places[i]], spec.backend.device_for(spec.device)
            raise GradientError(f"{what}{where(path)}: expected {spec!r} on {own}, got {got}; convert it")
    return found


def zeros_of(spec: Spec) -> Variable:
    """Return zeros of this shape and dtype on this device, which require no gradient."""
    backend = spec.backend
    made = backend.namespace.zeros(spec.shape, dtype=spec.dtype, device=spec.device)
    return constant_variable(backend.restore(made))


def zeros_like(x: Variable) -> Variable:
    """Return zeros of the shape, dtype and device of `x`, which require no gradient."""
    return zeros_of(x._node.spec)


def or_zeros(gradients: Iterable[Variable | None], references: Iterable[Variable]) -> list[Variable]:
    """Return `gradients` with zeros, of the shape of the reference, in place of None."""
    return [zeros_like(x) if g is None else g for g, x in zip(gradients, references, strict=True)]


def derivatives(
    pull: Callable[[Variable], list[Variable]], seed: Variable, y: Variable, roots: Sequence[Variable]
) -> list[Variable]:
    """Return the derivatives by the roots of an element of `y`, from the gradients that `pull` returns for `seed`.

    If `y` is complex, they are the derivative by a complex root, of which `y` is a holomorphic function, and the
    derivative of the real part plus i times that of the imaginary part by a real root.
    """
    found = pull(seed)
    if not y._node.spec.complex:
        return found
    of_reals = not all(x._node.spec.complex for x in roots)
    other = pull(turned(seed)) if of_reals else found
    return [
        array_api.conj(g) if x._node.spec.complex else g + 1j * h for x, g, h in zip(roots, found, other, strict=True)
    ]


def turned(seed: Variable) -> Variable:
    """Return `seed` times the imaginary unit."""
    backend = seed._node.spec.backend
    return constant_variable(backend.restore(backend.xp.multiply(seed._array, 1j)))


def real_scalar(y: Variable, name: str, holomorphic: bool | None = None) -> Variable:
    """Return `y`, or raise if it is not one real floating-point number, as a gradient requires.

    It may be complex if `holomorphic` is True; if it is None, `name` has no such argument.
    """
    spec = y._node.spec
    if spec.size != 1:
        raise GradientError(
            f"{name}: the function must return one number, got shape {spec.shape}; reduce it, or use jacobian or vjp"
        )
    if spec.complex and not holomorphic:
        remedy = "or use vjp" if holomorphic is None else "or pass holomorphic=True if it is holomorphic"
        raise DtypeError(
            f"{name}: the function must return a real number, got {spec!r}; take its real part or abs, {remedy}"
        )
    return y


def ancestors(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield the nodes of Variables, and those from which they were computed, each once."""
    waiting, seen = [y._node for y in outputs], set[Any]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            yield node
            function = node.live_creator()
            nodes = () if function is None else function.input_nodes or ()
            waiting.extend(each for each in nodes if each is not None)


def check_connected(name: str, gradients: list[Variable], seeds: set[Any]) -> None:
    """Raise if a gradient that is not 0 does not depend on a cotangent by functions of Variables."""
    for g in gradients:
        if seeds.isdisjoint(ancestors([g])) and g._node.spec.backend.any_true(g._array != 0):
            raise GradientError(f"{name}: its gradient is computed outside of the graph, {UNTRANSPOSED}")
