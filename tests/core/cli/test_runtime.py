"""Versions for reports of problems."""

import io
import platform

import xpgrad


def test_versions_of_python_xpgrad_and_the_libraries_are_printed(capsys) -> None:
    out = io.StringIO()
    xpgrad.print_runtime_info(out)
    rows = dict(line.split(": ", 1) for line in out.getvalue().splitlines())
    assert (rows["Python"], rows["xpgrad"]) == (platform.python_version(), xpgrad.__version__)
    assert rows["numpy"] == xpgrad.get_device("@numpy").backend.version
    assert set(rows) >= {"Platform", "cupy"}
    xpgrad.print_runtime_info()
    assert capsys.readouterr().out == out.getvalue()
