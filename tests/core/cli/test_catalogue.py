"""Chainer's public names: each is in the catalogue once, and the names listed as available exist."""

import importlib

import pytest

import xpgrad
from xpgrad.cli import catalogue

CATALOGUE = catalogue.load()
ENTRIES = [entry for entries in CATALOGUE.modules.values() for entry in entries.values()]
NUMBERS = {
    "chainer.functions": 216,
    "chainer.links": 62,
    "chainer.optimizers": 15,
    "chainer.optimizer_hooks": 6,
    "chainer.initializers": 17,
    "chainer.training.extensions": 26,
    "chainer.training.triggers": 8,
}
"""Number of public names in modules of Chainer 7.8.1."""


def looked_up(path):
    """Return the object with a dotted path; late imported modules count as attributes."""
    found = xpgrad
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


def test_names_listed_as_available_exist() -> None:
    for entry in [entry for entry in ENTRIES if entry.here]:
        looked_up(entry.here)


def test_removed_names_do_not_exist_and_have_a_reason() -> None:
    for entry in [entry for entry in ENTRIES if entry.state == "gone"]:
        module, _, name = entry.path.rpartition(".")
        if entry.path not in ("chainer.types", "chainer.warnings"):  # other modules have these names
            assert not hasattr(looked_up(CATALOGUE.here[module]), name) or module == "chainer.config", entry.path
        assert len(entry.text) > 5, entry.path


def test_the_modules_have_as_many_names_as_chainers() -> None:
    assert {module: len(CATALOGUE.modules[module]) for module in NUMBERS} == NUMBERS


def test_every_name_is_listed_once() -> None:
    import tomllib
    from importlib.resources import files

    data = tomllib.loads((files("xpgrad.cli") / "chainer.toml").read_text())
    assert len({module["chainer"] for module in data["module"]}) == len(data["module"])
    for module in data["module"]:
        names = module["names"].split()
        assert len(names) == len(set(names)), module["chainer"]
        marked = [name for state in ("better", "renamed", "gone") for name in module.get(state, {})]
        assert len(marked) == len(set(marked)), module["chainer"]
        assert set(marked) <= set(names), module["chainer"]
        assert set(module) <= {"chainer", "here", "names", "better", "renamed", "gone"}


def test_the_functions_that_are_here_and_not_in_chainer_are_few() -> None:
    names = set(dir(importlib.import_module("xpgrad.functions"))) - set(CATALOGUE.modules["chainer.functions"])
    assert names <= {"gelu", "scaled_dot_product_attention"}


@pytest.mark.parametrize(
    ("path", "state", "here"),
    [
        ("chainer", "same", "xpgrad"),
        ("chainer.functions", "same", "xpgrad.functions"),
        ("chainer.functions.relu", "same", "xpgrad.functions.relu"),
        ("chainer.functions.ReLU", "gone", None),
        (
            "chainer.links.BinaryHierarchicalSoftmax.create_huffman_tree",
            "same",
            "xpgrad.links.BinaryHierarchicalSoftmax",
        ),
        ("chainer.cuda.to_gpu", "same", "xpgrad.backends.cuda.to_gpu"),
        ("chainer.cuda", "same", "xpgrad.cuda"),
        ("chainer.configuration", "same", "xpgrad.configuration"),
        ("chainer.dataset.convert.concat_examples", "better", "xpgrad.dataset.concat_examples"),
        ("chainer.training.extension.Extension", "same", "xpgrad.training.Extension"),
        ("chainer.datasets.get_mnist", "renamed", "xpgrad.datasets.get_digits"),
        ("chainer.functions.activation.relu.relu", "renamed", "xpgrad.functions.relu"),
        ("chainer.links.model.classifier.Classifier", "renamed", "xpgrad.links.Classifier"),
        ("chainer.datasets.tuple_dataset.TupleDataset", "same", "xpgrad.datasets.TupleDataset"),
        ("chainer.distributions.Normal", "same", "xpgrad.distributions.Normal"),
        ("chainermn.create_communicator", "gone", None),
        ("chainer.links.model.vision.resnet.prepare", "gone", None),
        ("chainer.functions.nonsense", "not known", None),
        ("chainer.nonsense.more", "not known", None),
    ],
)
def test_paths_are_found_by_their_longest_known_part(path, state, here) -> None:
    entry = CATALOGUE.find(path)
    assert (entry.path, entry.state, entry.here) == (path, state, here)
