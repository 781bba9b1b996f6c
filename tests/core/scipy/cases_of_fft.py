"""Cases of `xpgrad.scipy.fft`: linear functions, whose second derivatives are 0."""

import pytest
from tests.core.scipy.table import cases_of, complex_uniform, uniform

from xpgrad.scipy import fft

of = cases_of("fft", fft, pytest.importorskip("scipy.fft"), orders=1)

CASES = [
    *(of(f"{name}:{kind},{norm}", uniform(2, 5), args=(kind,), norm=norm, libraries=kind == 2)
      for name in ("dct", "idct", "dst", "idst") for kind in (1, 2, 3, 4) for norm in (None, "ortho")),
    of("dct:axis", uniform(4, 3), type=2, n=6, axis=0, norm="forward"),
    of("idct:n", uniform(6), type=3, n=4, norm="forward", orthogonalize=True, libraries=False),
    of("dst:complex", complex_uniform(6), type=2, norm="ortho"),
    of("dctn", uniform(3, 4), type=2),
    of("idctn", uniform(3, 4), type=2, s=(2, 5), axes=(1, 0)),
    of("dstn", uniform(3, 4), type=1, norm="ortho"),
    of("idstn", uniform(2, 3, 4), type=4, axes=(0, 2)),
]  # fmt: skip
