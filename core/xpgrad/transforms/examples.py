"""`per_example`: the gradient of each example of a batch."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.batch.axes import Axes
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.gradient import documented, gradient_of


def per_example(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, in_axes: Axes = ..., has_aux: bool = False, *,
    chunk_size: int | None = None, allow_constant: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that returns the gradient of `f` for each example of a batch, in one sweep.

    Parameters
    ----------
    f : callable
        Takes parameters and one example, and returns one real number.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `grad`.
    in_axes : int, None or tuple
        The axis of the examples in each argument, as for `vmap`. By default None for the arguments `argnums`, which are
        shared by all examples, and 0 for the other arguments.
    has_aux : bool
        `f` returns ``(number, aux)``; the result is ``(gradients, aux)``.
    chunk_size : int, optional
        Largest number of examples that are computed at a time.
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    callable
        Takes the arguments of `f`, with an additional axis for the examples. Each leaf of the result has the shape of
        the argument's leaf, after a leading axis for the examples.
    """
    gradient = gradient_of("per_example", f, argnums, has_aux, allow_constant=allow_constant)

    @documented(f, "per_example")
    def gradients(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes
        if axes is ...:
            wanted = {i % len(args) for i in ([argnums] if isinstance(argnums, int) else argnums) if args}
            axes = tuple(None if i in wanted else 0 for i in range(len(args)))
        return vmap(gradient, axes, chunk_size=chunk_size)(*args, **kwargs)

    return gradients
