"""Run as a program: the case table on a fake GPU, with the unchanged backend.

Arguments: the device, whether to make it the current one ("current") or not ("followed"), and the checks to run.
"""

import sys
import warnings

from tests.backends.cupy import fake

UNLIKE = {"linalg.eigvals", "linalg.eigvals-batch", "interp"}
"""NumPy returns real eigenvalues for real spectra; the case of `interp` uses array_api_compat, which uses NumPy."""


def main(specifier: str, mode: str, checks: set[str]) -> int:
    fake.install()
    import xpgrad_cupy.plugin

    xpgrad_cupy.plugin.why_unavailable = lambda: None
    from tests.devices import lacking

    import xpgrad
    from xpgrad_conformance.cases import CASES
    from xpgrad_conformance.table.scenario import dtypes_of
    from xpgrad_conformance.table.table import assertions_of, run

    device = xpgrad.get_device(specifier)
    if mode == "current":
        device.use()
    warnings.simplefilter("ignore")
    count, failures = 0, []
    for case in CASES:
        if case.name in UNLIKE or lacking("cupy", case.needs):
            continue
        dtype = dtypes_of(case)[0]
        for check in checks & set(assertions_of(case, dtype)):
            count += 1
            try:
                run(case, device, dtype, check)
            except Exception as error:
                failures.append(f"{case.name}: {check}: {type(error).__name__}: {error}")
    print(f"{count} checks, {len(failures)} failed on {device!r}")
    print("\n".join(failures))
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], sys.argv[2], set(sys.argv[3].split(",")))))
