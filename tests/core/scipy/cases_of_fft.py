"""Cases of `xpgrad.scipy.fft`."""

import pytest
from tests.core.scipy.table import ScipyCase, complex_uniform, uniform

from xpgrad.scipy import fft

ref = pytest.importorskip("scipy.fft")


def of(name, x, *args, **kwargs):
    """Return a case of a linear function; its second derivatives are 0."""
    found, expected = getattr(fft, name), getattr(ref, name)
    given = ",".join(str(each) for each in (*args, *kwargs.values()))
    return ScipyCase(
        f"fft.{name}:{given},{x.shape}",
        lambda x: found(x, *args, **kwargs),
        lambda x: expected(x, *args, **kwargs),
        (x,),
        orders=1,
        libraries=args[0] == 2 or name.endswith("n"),
    )


CASES = [
    *(
        of(name, uniform(2, 5), kind, norm=norm)
        for name in ("dct", "idct", "dst", "idst")
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
    ),
    of("dct", uniform(4, 3), 2, n=6, axis=0, norm="forward"),
    of("idct", uniform(6), 3, n=4, norm="forward", orthogonalize=True),
    of("dst", complex_uniform(6), 2, norm="ortho"),
    of("dctn", uniform(3, 4), 2),
    of("idctn", uniform(3, 4), 2, s=(2, 5), axes=(1, 0)),
    of("dstn", uniform(3, 4), 1, norm="ortho"),
    of("idstn", uniform(2, 3, 4), 4, axes=(0, 2)),
]
