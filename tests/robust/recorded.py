"""Correct calls of public functions that other tables of cases make: what passes the boundary is recorded."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.special
from tests.core.distributions.cases import LAWS
from tests.core.scipy.stats.test_stats import COUNTS, SHAPES
from tests.core.scipy.test_differentiated import CASES
from tests.robust.calls import Call, renewed

from xpgrad import Variable, boundary, special
from xpgrad import distributions as D
from xpgrad.scipy import stats
from xpgrad.scipy.stats.univariate import Continuous


@contextmanager
def recorded(calls: list[Call], prefix: str) -> Iterator[None]:
    """Append the calls of public functions and classes that the block makes directly, by way of their boundary."""
    running: list[Any] = []

    def observe(frame: Any, event: str, arg: Any) -> None:
        if frame.f_code is CODE and event == "call":
            running.append(frame)
            if len(running) == 1:
                found = frame.f_locals
                function, args, name = found["function"], found["args"], found["name"]
                if name is None:  # a constructor
                    function, args = type(args[0]), args[1:]
                    name = function.__name__
                else:
                    function = boundary._shared(function, name)
                kwargs = {key: renewed(value) for key, value in found["kwargs"].items()}
                calls.append(Call(f"{prefix}{name}", function, renewed(args), kwargs))
        elif event == "return" and running and frame is running[-1]:
            running.pop()

    sys.setprofile(observe)
    try:
        yield
    finally:
        sys.setprofile(None)


CODE: Any = boundary.bounded(recorded).__code__


def first_of_each(calls: Iterable[Call]) -> list[Call]:
    """Return the first call of each function with each number and names of arguments."""
    found: dict[Any, Call] = {}
    for call in calls:
        found.setdefault((call.name, len(call.args), *sorted(call.kwargs)), call)
    return list(found.values())


def of_scipy() -> list[Call]:
    """Return the calls of functions of `xpgrad.scipy`."""
    calls: list[Call] = []
    for case in CASES:
        with recorded(calls, f"scipy.{case.name.partition(':')[0].rpartition('.')[0]}."):
            case.function(*[Variable(x) if isinstance(x, np.ndarray) else x for x in case.inputs])
    chapters = {path: importlib.import_module(f"xpgrad.{path}").__all__ for path in {_chapter(c) for c in calls}}
    return first_of_each(call for call in calls if call.name.rpartition(".")[2] in chapters[_chapter(call)])


def _chapter(call: Call) -> str:
    return call.name.rpartition(".")[0]


def of_distributions() -> list[Call]:
    """Return the calls of the constructors of distributions, and of their methods."""
    calls: list[Call] = []
    methods: list[Call] = []
    for law in LAWS:
        with recorded(calls, "distributions."):
            made = law.make(*[Variable(np.asarray(x)) for x in law.parameters])
        point = Variable(np.asarray(law.points[:1]), requires_grad=False)
        for name, args in {"log_prob": (point,), "cdf": (point,), "sample": ((2,),), "sample_n": (2,)}.items():
            if name != "cdf" or "cdf" not in law.lacking:
                methods.append(Call(f"{type(made).__name__}.{name}", getattr(made, name), args, {}))
    normal = D.Normal(0.0, 1.0)
    calls += [Call(f"distributions.{name}", getattr(D, name), (normal, normal), {}) for name in DIVERGENCES]
    return first_of_each(call for call in [*calls, *methods] if call.name.rpartition(".")[2] in FUNCTIONS)


DIVERGENCES = "cross_entropy", "kl_divergence"
FUNCTIONS = {*D.__all__, "log_prob", "cdf", "sample", "sample_n"}


OF_ORDERS = {"hankel1e", "hankel2e", "ive", "jve", "kve", "yve"}
"""Functions that have no gradient with respect to their first argument, and call another function with it."""


def of_special() -> list[Call]:
    """Return the calls of special functions at numbers in the domain of most of them."""
    found = []
    for name in filter(set(dir(scipy.special)).__contains__, special.__all__):  # the others are called by rules
        function: Callable[..., Any] = getattr(special, name)
        parameters = inspect.signature(function).parameters.values()
        count = sum(p.default is p.empty and p.kind < p.KEYWORD_ONLY for p in parameters)
        args = [Variable(np.asarray([0.25 * (i + 1), 0.5]), requires_grad=name not in OF_ORDERS) for i in range(count)]
        found.append(Call(f"special.{name}", function, tuple(args), {}))
    return found


def of_statistics() -> list[Call]:
    """Return the calls of methods of SciPy's distributions for which there is a formula."""
    found, point = [], np.asarray([0.3, 0.6])
    shares, sample = np.asarray([0.2, 0.3, 0.5]), np.asarray([[0.1, 0.4, 0.2, 0.9]])
    for name, args in {
        "dirichlet.pdf": (shares, shares), "multinomial.pmf": (np.asarray([1.0, 2.0]), 3, point),
        "multivariate_normal.logpdf": (shares, shares), "gaussian_kde": (sample,),
    }.items():  # fmt: skip
        found.append(Call(f"scipy.stats.{name}", attrgetter(name)(stats), args, {}))
    for name, shapes in SHAPES.items():
        kind = getattr(stats, name)
        is_continuous = isinstance(kind, Continuous)
        for method in "cdf", "ppf", "mean", "rvs", "pdf" if is_continuous else "pmf":
            counts = len(shapes) if method == "rvs" else COUNTS.get(name, 0)
            args = [Variable(np.asarray(x), requires_grad=i >= counts) for i, x in enumerate(shapes)]
            if method not in ("mean", "rvs"):
                args.insert(0, Variable(point, requires_grad=is_continuous))
            function = getattr(kind, method)
            with suppress(NotImplementedError):
                function(*args)
                found.append(Call(f"scipy.stats.{name}.{method}", function, tuple(args), {}))
    return found
