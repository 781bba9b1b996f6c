"""The seeded faults, by what is wrong, and the freedoms that are not."""

from tests.faults import (
    creating,
    current,
    devices,
    dlpack,
    dtypes,
    elementwise,
    freedoms,
    fused,
    hoarding,
    lateness,
    loading,
    moves,
    moving,
    products,
    races,
    random_state,
    reductions,
    refusing,
    state,
    writes,
)
from tests.faults.fault import Fault, Freedom

WITH_FAULTS = (
    creating,
    current,
    devices,
    dlpack,
    dtypes,
    elementwise,
    fused,
    hoarding,
    lateness,
    loading,
    moves,
    moving,
    products,
    races,
    random_state,
    reductions,
    refusing,
    state,
    writes,
)
WITH_FREEDOMS = (current, dlpack, freedoms)
FAULTS: tuple[Fault, ...] = tuple(fault for module in WITH_FAULTS for fault in module.FAULTS)
FREEDOMS: tuple[Freedom, ...] = tuple(freedom for module in WITH_FREEDOMS for freedom in module.FREEDOMS)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
