"""SciPy's statistics of Variables, compared with SciPy's statistics of arrays; prints differences as JSON.

A separate program, because SciPy reads SCIPY_ARRAY_API once, when it is imported.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":  # not where the test reads the names of the programs
    os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
from scipy import special, stats

import xpgrad
from xpgrad import Variable
from xpgrad.testing.arrays import on_host, placed

RNG = np.random.default_rng(3)
X = RNG.normal(size=24) * 1.3 + 0.4
Z = RNG.normal(size=24) * 0.9 - 0.1
W = X * 0.5 + RNG.normal(size=24)
POSITIVE = np.exp(X)
COUNTS = np.asarray([12.0, 15.0, 9.0, 20.0, 14.0])
PS = np.asarray([0.02, 0.3, 0.2, 0.5, 0.07])

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "ttest_1samp": (lambda x: stats.ttest_1samp(x, 0.2), (X,)),
    "ttest_ind": (stats.ttest_ind, (X, Z)),
    "ttest_ind-unequal": (lambda x, y: stats.ttest_ind(x, y, equal_var=False), (X, Z)),
    "ttest_rel": (stats.ttest_rel, (X, Z)),
    "pearsonr": (stats.pearsonr, (X, W)),
    "normaltest": (stats.normaltest, (X,)),
    "skewtest": (stats.skewtest, (X,)),
    "kurtosistest": (stats.kurtosistest, (X,)),
    "jarque_bera": (stats.jarque_bera, (X,)),
    "f_oneway": (stats.f_oneway, (X, Z, W)),
    "alexandergovern": (stats.alexandergovern, (X, Z, W)),
    "bartlett": (stats.bartlett, (X, Z, W)),
    "levene": (stats.levene, (X, Z)),
    "chisquare": (stats.chisquare, (COUNTS,)),
    "power_divergence": (lambda x: stats.power_divergence(x, lambda_="log-likelihood"), (COUNTS,)),
    "power_divergence-cressie_read": (lambda x: stats.power_divergence(x, lambda_="cressie-read"), (COUNTS,)),
    "combine_pvalues-fisher": (stats.combine_pvalues, (PS,)),
    "combine_pvalues-pearson": (lambda p: stats.combine_pvalues(p, method="pearson"), (PS,)),
    "combine_pvalues-stouffer": (lambda p: stats.combine_pvalues(p, method="stouffer"), (PS,)),
    "combine_pvalues-mudholkar_george": (lambda p: stats.combine_pvalues(p, method="mudholkar_george"), (PS,)),
    "entropy": (stats.entropy, (POSITIVE,)),
    "entropy-relative": (stats.entropy, (POSITIVE, np.exp(Z))),
    "differential_entropy": (stats.differential_entropy, (X,)),
    "zscore": (stats.zscore, (X,)),
    "zmap": (stats.zmap, (X, Z)),
    "gzscore": (stats.gzscore, (POSITIVE,)),
    "moment": (lambda x: stats.moment(x, 3), (X,)),
    "skew": (stats.skew, (X,)),
    "kurtosis": (stats.kurtosis, (X,)),
    "describe": (lambda x: stats.describe(x)[2:], (X,)),
    "gmean": (stats.gmean, (POSITIVE,)),
    "hmean": (stats.hmean, (POSITIVE,)),
    "pmean": (lambda x: stats.pmean(x, 1.5), (POSITIVE,)),
    "tmean": (lambda x: stats.tmean(x, (-3, 3)), (X,)),
    "tvar": (lambda x: stats.tvar(x, (-3, 3)), (X,)),
    "variation": (stats.variation, (POSITIVE,)),
    "sem": (stats.sem, (X,)),
    "kstat": (lambda x: stats.kstat(x, 3), (X,)),
    "kstatvar": (lambda x: stats.kstatvar(x, 1), (X,)),
    "lmoment": (stats.lmoment, (X,)),
    "circmean": (stats.circmean, (POSITIVE,)),
    "circvar": (stats.circvar, (POSITIVE,)),
    "boxcox_llf": (lambda x: stats.boxcox_llf(0.5, x), (POSITIVE,)),
    "yeojohnson_llf": (lambda x: stats.yeojohnson_llf(0.5, x), (X,)),
    "special.logsumexp": (special.logsumexp, (X,)),
    "special.softmax": (special.softmax, (X,)),
    "special.log_softmax": (special.log_softmax, (X,)),
    "special.erf": (special.erf, (X,)),
    "special.betaincc": (special.betaincc, (POSITIVE, np.exp(Z), special.expit(W))),
    "special.stdtr": (special.stdtr, (POSITIVE, Z)),
    "special.rel_entr": (special.rel_entr, (POSITIVE, np.exp(Z))),
    "special.polygamma": (lambda x: special.polygamma(2, x), (POSITIVE,)),
    "special.zeta": (lambda x: special.zeta(x + 1.2), (POSITIVE,)),
    "special.multigammaln": (lambda x: special.multigammaln(x + 2, 2), (POSITIVE,)),
}


def outputs(result: Any) -> list[Any]:
    """Return statistic and p-value of a test, or the other results of a function, in a list."""
    if hasattr(result, "statistic"):
        return [result.statistic, result.pvalue]
    return list(result) if isinstance(result, tuple) else [result]


def difference(name: str, device: xpgrad.Device) -> str:
    """Return the differences of values or gradients from SciPy's results on arrays as text, or an empty text."""
    function, hosts = PROGRAMS[name]
    xs = [Variable(placed(h, device)) for h in hosts]
    ys, expected = outputs(function(*xs)), outputs(function(*hosts))
    rng = np.random.default_rng(1)
    for k, (y, value) in enumerate(zip(ys, expected, strict=True)):
        if not isinstance(y, Variable) or not y.requires_grad:
            return f"output {k} is {y!r}, which is not connected"
        if not np.allclose(on_host(y), value, rtol=1e-8, atol=1e-14):
            return f"output {k} is {on_host(y)}, expected {value}"
        cotangent = rng.normal(size=y.shape)
        gradients = xpgrad.grad([y], xs, grad_outputs=[Variable(placed(cotangent, device))])
        for i, gx in enumerate(gradients):
            direction, step, slope = rng.normal(size=hosts[i].shape), 1e-4, 0.0
            for shift, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
                moved = [h + shift * step * direction if j == i else h for j, h in enumerate(hosts)]
                slope += weight * float(np.sum(np.asarray(outputs(function(*moved))[k]) * cotangent)) / (12 * step)
            got = 0.0 if gx is None else float(np.sum(on_host(gx) * direction))
            if abs(got - slope) > 1e-6 * abs(slope) + 1e-9:
                return f"the derivative of output {k} by input {i} is {got}, expected {slope}"
    return ""


if __name__ == "__main__":
    place = xpgrad.get_device(sys.argv[1])
    found = {}
    for each in PROGRAMS:
        try:
            found[each] = difference(each, place)
        except Exception as error:
            found[each] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))
