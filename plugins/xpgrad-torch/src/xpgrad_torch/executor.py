"""The executor of compiled functions for ``compile(executor="torch")``: `torch.compile` of a program.

It is used on request only, because its compiler takes seconds to minutes for a program, in separate processes.
"""

import functools
from typing import TYPE_CHECKING, Any

import torch

from xpgrad.interop import fallback
from xpgrad.plugin import checks_index_arrays

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

MAX_CALLS = 5_000
"""Number of calls from which on the compiler takes more than some minutes."""


class TorchExecutor:
    """Makes functions of programs by `torch.compile`.

    Attributes
    ----------
    on_request : bool
        True: only a request by name selects this executor.
    """

    on_request = True

    def __call__(self, program: "Program") -> Any:
        """Return the function of a program, or a text if that has effects or is too long."""
        if len(program.calls) > MAX_CALLS or any(call.draws or call.writes for call in program.calls):
            return "it is too long, draws, or writes to arrays"
        opened, constants = program.with_constants_as_inputs()  # which may be written to
        function = opened.function()
        for value in program.values():  # which the compiler cannot find out while it follows the program
            checks_index_arrays(value.spec.backend, value.spec.device)
        # Shapes are fixed by the program; compiling only parts of it would be slower.
        compiled: fallback.Run = torch.compile(function, fullgraph=True, dynamic=False)
        return falling_back(compiled, function, constants, program.name)


def apart(outputs: tuple[torch.Tensor, ...], inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return tensors, copied where they share memory, because the compiler merges equal copies."""
    taken = {x.untyped_storage().data_ptr() for x in inputs}
    found = []
    for y in outputs:
        place = y.untyped_storage().data_ptr()
        if place in taken and y.numel():
            y = y.clone()
            place = y.untyped_storage().data_ptr()
        taken.add(place)
        found.append(y)
    return tuple(found)


falling_back = functools.partial(fallback.falling_back, "xpgrad-torch: torch.compile", finish=apart)
