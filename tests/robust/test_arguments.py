"""Wrong arguments of public functions: refused in words, or the right value; each commit tries a part of the values."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.robust import calls
from tests.robust.arguments import fault
from tests.robust.wrong import WRONG
from tests.turn import part_of

PARTS = 4
FAMILIES: dict[str, Callable[[], list[calls.Call]]] = {
    "cases": calls.of_cases, "links": calls.of_links, "modules": calls.of_modules, "methods": calls.of_methods,
}  # fmt: skip

KNOWN = {
    "BinaryHierarchicalSoftmax": (1, (1, 1)),
    "BlackOut": (1,),
    "CRF1d.forward": (1, 2),
    "F.batch_normalization": ("eps",),
    "F.batch_renormalization": (4, "eps"),
    "F.clipped_relu": ("z",),
    "F.decorrelated_batch_normalization": ("eps",),
    "F.roi_average_align_2d": (4, "spatial_scale"),
    "F.roi_max_align_2d": (4, "spatial_scale"),
    "NegativeSampling": (1,),
    "F.sum_to": (1,),
    "Variable.take": (1,),
    "Variable.transpose": (0, 1),
    "linalg.pinv": ("rtol",),
    "ops.interp": (0, "period"),
    "permute_dims": (1, (1, 2)),
    "roll": ((1, 1),),
    "sort": ("axis",),
    "special.ellipkm1_of": ("n",),
    "special.expn_of": ("n",),
    "special.log_softmax": ("axis",),
    "special.sinc_of": ("n",),
    "xpgrad.scipy.solve_ivp": ((1, 1),),
    "xpgrad.transforms.custom_linear_solve": (3,),
}
"""Arguments for which a wrong value is not refused yet: it takes too long, or only the gradient fails or is wrong."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("value", part_of(list(WRONG), PARTS))
@pytest.mark.parametrize("family", FAMILIES)
def test_wrong_arguments_are_refused_in_words(
    family: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tried = [(call, place) for call in FAMILIES[family]() for place in call.places()]
    found = [
        (call.name, place, fault(call, place, value)) for call, place in tried if place not in KNOWN.get(call.name, ())
    ]
    assert not [each for each in found if each[2]]
