"""`xpgrad devices`."""

import json

import pytest
from click.testing import CliRunner

from xpgrad.cli import main


def test_the_list_names_backends_devices_and_reasons() -> None:
    result = CliRunner(env={"COLUMNS": "1000"}).invoke(main, ["devices"])
    assert result.exit_code == 0
    assert "@numpy" in result.output
    assert "native:0" in result.output


def test_json_says_what_is_on_and_why_something_is_off() -> None:
    rows = {row["backend"]: row for row in json.loads(CliRunner().invoke(main, ["devices", "--json"]).output)}
    assert rows["numpy"]["state"] == "on"
    assert rows["numpy"]["devices"] == ["@numpy"]
    assert rows["numpy"]["reason"] is None
    assert rows["chx"]["devices"][:2] == ["native:0", "native:1"]
    if rows["cupy"]["state"] == "off":
        assert rows["cupy"]["reason"].startswith("cupy: ")
    assert rows["numpy"]["seconds"] >= 0


@pytest.mark.parametrize("words", [["--help"], ["devices", "--help"], ["demo", "digits", "--help"], ["--version"]])
def test_help_is_there(words: list[str]) -> None:
    assert CliRunner().invoke(main, words).exit_code == 0
