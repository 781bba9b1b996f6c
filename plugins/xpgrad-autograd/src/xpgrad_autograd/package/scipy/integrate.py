"""Differentiable ``scipy.integrate.odeint``, with gradients from the adjoint equation."""

from typing import Any

import numpy as np
import scipy.integrate

from xpgrad_autograd.boxes import functions, value_of
from xpgrad_autograd.derivatives import defvjp_argnums, make_vjp, primitive
from xpgrad_autograd.package.misc.flatten import flatten
from xpgrad_autograd.trees import mapped

odeint = primitive(scipy.integrate.odeint)


def _by_adjoint(argnums: Any, ans: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    func, y0, t, *given = args
    rest = given[0] if given else options.get("args", ())
    options = {key: value for key, value in options.items() if key != "args"}
    flat, _ = flatten(rest)
    _, unflatten = flatten(mapped(value_of, rest))
    xp = functions()
    size, count = np.size(value_of(y0)), np.size(value_of(flat))

    def augmented(state: Any, time: Any, flat: Any) -> Any:
        """Return derivatives of the solution, its adjoint, and the gradients by time and arguments."""
        y, adjoint = state[:size], state[size : 2 * size]

        def of_all(given: Any) -> Any:
            return func(given[0], given[1], *unflatten(given[2]))

        pull, dy = make_vjp(of_all, (y, time, flat))
        gy, gt, gflat = pull(-adjoint)
        return xp["concatenate"]([dy, gy, xp["reshape"](gt, (1,)), gflat])

    def pulled(g: Any) -> Any:
        adjoint, by_arguments, by_start = g[-1, :], xp["zeros"](count), 0.0
        times: list[Any] = []
        for i in range(len(t) - 1, 0, -1):
            at = xp["dot"](func(ans[i, :], t[i], *rest), g[i, :])
            times.append(at)
            by_start = by_start - at
            start = xp["concatenate"]([ans[i, :], adjoint, xp["reshape"](by_start, (1,)), by_arguments])
            end = odeint(augmented, start, xp["array"]([t[i], t[i - 1]]), (flat,), **options)[1]
            adjoint = end[size : 2 * size] + g[i - 1, :]
            by_start, by_arguments = end[2 * size], end[2 * size + 1 :]
        times.append(by_start)
        found = {1: adjoint, 2: xp["array"](times[::-1]), 3: unflatten(by_arguments)}
        return [found[i] for i in argnums]

    return pulled


defvjp_argnums(odeint, _by_adjoint)
