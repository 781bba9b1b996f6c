"""Variables in xarray's `DataArray` and `Dataset`: values and labels as with NumPy, and gradients through pipelines."""

import warnings

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import StructureError
from xpgrad.scipy import minimize, solve_ivp
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, hvp, jacobian, jvp, sparse_jacobian, value_and_grad, vjp, vmap

xr = pytest.importorskip("xarray")
VALUES = np.random.default_rng(0).random((4, 3)) + 0.5
DAYS = np.asarray(["2000-01-01", "2000-01-02", "2000-02-01", "2000-02-03"], "datetime64[ns]")
WEIGHTS = xr.DataArray([1.0, 2.0, 3.0], dims="s")


def labelled(values):
    coords = {
        "t": [10, 20, 30, 40],
        "s": ["a", "b", "c"],
        "g": ("t", ["x", "y", "x", "y"]),
        "h": ("s", [1.0, 2.0, 3.0]),
    }
    return xr.DataArray(values, dims=("t", "s"), coords=coords, name="d", attrs={"unit": "m"})


def element(d):
    d = d * 1
    d[{"t": 0}] = 0.0
    return d


def by_label(d):
    d = d * 1
    d.loc[{"t": 20}] = d.loc[{"t": 10}] * 3
    return d


def in_place(d):
    d = d * 1
    d += 2
    return d


def climatology(d):
    """Anomalies of group means, smoothed, weighted and scaled, as a whole pipeline."""
    anomaly = d.groupby("g") - d.groupby("g").mean()
    smooth = anomaly.rolling(t=2, min_periods=1).mean()
    scaled = (smooth / d.std("t")).to_dataset(name="v").assign(total=d.sum("s"))
    return scaled.v.weighted(WEIGHTS).mean("s") * scaled.total.sel(t=slice(20, 40))


PIPELINES = {
    "+ by names": lambda d: d + xr.DataArray(np.arange(3.0), dims="s"),
    "* by names, reversed": lambda d: xr.DataArray(np.arange(3.0), dims="s") * d,
    "* an array": lambda d: np.ones((4, 3)) * d,
    "* another dimension": lambda d: d * xr.DataArray(np.arange(2.0), dims="q"),
    "+ with alignment": lambda d: d + d.isel(t=[1, 2]),
    "**": lambda d: 2.0**d,
    "sel": lambda d: d.sel(t=20),
    "sel of a slice and a list": lambda d: d.sel(t=slice(20, 30), s=["a", "c"]),
    "sel of the nearest": lambda d: d.sel(t=22, method="nearest"),
    "isel": lambda d: d.isel(t=[0, 2], s=1),
    "[] of a dictionary": lambda d: d[{"t": 0}],
    "[] of a mask": lambda d: d[d.t.values > 15],
    "isel of argmax": lambda d: d.isel(t=d.sel(s="a", drop=True).argmax("t").item()),
    "idxmax": lambda d: d * d.idxmax("t").astype(float).values,
    "sum": lambda d: d.sum("t"),
    "sum of all": lambda d: d.sum(),
    "mean": lambda d: d.mean(("t", "s")),
    "mean, attributes kept": lambda d: d.mean("t", keep_attrs=True),
    "std": lambda d: d.std("t", ddof=1),
    "var": lambda d: d.var("t"),
    "max": lambda d: d.max("s"),
    "min": lambda d: d.min("s"),
    "prod": lambda d: d.prod("s"),
    "median": lambda d: d.median("t"),
    "quantile": lambda d: d.quantile([0.2, 0.5], "t"),
    "groupby mean": lambda d: d.groupby("g").mean(),
    "groupby sum": lambda d: d.groupby("g").sum(),
    "groupby map": lambda d: d.groupby("g").map(lambda x: x - x.mean("t")),
    "groupby -": lambda d: d.groupby("g") - d.groupby("g").mean(),
    "groupby_bins": lambda d: d.groupby_bins("t", [0, 25, 50]).mean(),
    "resample": lambda d: d.assign_coords(t=DAYS).resample(t="MS").mean(),
    "where": lambda d: d.where(d > 0.8),
    "where, else": lambda d: d.where(d > 0.8, 0.0),
    "where, dropped": lambda d: d.where(d.t > 15, drop=True),
    "xarray.where": lambda d: xr.where(d > 0.8, d, d**2),
    "concat": lambda d: xr.concat([d, d * 2], dim="t"),
    "concat along a new dimension": lambda d: xr.concat([d, d * 2], dim="new"),
    "merge": lambda d: xr.merge([d.rename("a"), (d * 2).rename("b")], compat="override")["b"],
    "combine_first": lambda d: d.where(d > 0.8).combine_first(d * 2),
    "rolling mean": lambda d: d.rolling(t=2).mean(),
    "rolling sum, centred": lambda d: d.rolling(t=3, center=True, min_periods=1).sum(),
    "rolling max": lambda d: d.rolling(t=2).max(),
    "rolling of two dimensions": lambda d: d.rolling(t=2, s=2).mean(),
    "rolling construct": lambda d: d.rolling(t=2).construct("w").mean("w"),
    "cumulative": lambda d: d.cumulative("t").sum(),
    "coarsen": lambda d: d.drop_vars("g").coarsen(t=2).mean(),
    "weighted mean": lambda d: d.weighted(WEIGHTS).mean("s"),
    "weighted sum by itself": lambda d: d.weighted(d).sum("s"),
    "weighted std": lambda d: d.weighted(WEIGHTS).std("s"),
    "dot": lambda d: d.dot(d, dim="s"),
    "xarray.dot": lambda d: xr.dot(d, d.rename(t="u"), dim="s"),
    "@": lambda d: d @ d.isel(t=0, drop=True),
    "apply_ufunc": lambda d: xr.apply_ufunc(np.tanh, d),
    "apply_ufunc of rows": lambda d: xr.apply_ufunc(lambda x: np.sum(x, axis=-1), d, input_core_dims=[["s"]]),
    "ufunc": lambda d: np.exp(d),
    "np.maximum": lambda d: np.maximum(d, 0.8),
    "to_dataset": lambda d: d.to_dataset(name="v")["v"],
    "to_dataset of a dimension": lambda d: d.to_dataset(dim="s")["a"],
    "Dataset *": lambda d: (d.to_dataset(name="v") * 2)["v"],
    "Dataset.mean": lambda d: d.to_dataset(name="v").mean("t")["v"],
    "Dataset.map": lambda d: d.to_dataset(name="v").map(np.sin)["v"],
    "Dataset.query": lambda d: d.to_dataset(name="v").query(t="t > 15")["v"],
    "to_dataarray": lambda d: xr.Dataset({"a": d, "b": d * 2}).to_dataarray(),
    "sortby": lambda d: d.sortby("t", ascending=False),
    "reindex": lambda d: d.reindex(t=[40, 20]),
    "reindex with a fill value": lambda d: d.reindex(t=[40, 99], fill_value=0.0),
    "reindex with NaN": lambda d: d.reindex(t=[40, 99]),
    "transpose": lambda d: d.transpose("s", "t"),
    "stack": lambda d: d.stack(z=("t", "s")),
    "unstack": lambda d: d.stack(z=("t", "s")).unstack("z"),
    "expand_dims": lambda d: d.expand_dims(q=2),
    "squeeze": lambda d: d.isel(t=[0]).squeeze("t"),
    "rename": lambda d: d.rename(t="u"),
    "swap_dims": lambda d: d.swap_dims(s="h"),
    "assign_coords": lambda d: d.assign_coords(t=d.t * 2),
    "shift": lambda d: d.shift(t=1),
    "roll": lambda d: d.roll(t=1, roll_coords=True),
    "diff": lambda d: d.diff("t"),
    "cumsum": lambda d: d.cumsum("t"),
    "cumprod": lambda d: d.cumprod("t"),
    "differentiate": lambda d: d.differentiate("t"),
    "integrate": lambda d: d.integrate("t"),
    "cumulative_integrate": lambda d: d.cumulative_integrate("t"),
    "pad": lambda d: d.pad(t=1, mode="edge"),
    "pad with a constant": lambda d: d.pad(t=1, constant_values=0.0),
    "clip": lambda d: d.clip(0.7, 1.2),
    "fillna": lambda d: d.where(d > 0.8).fillna(0.0),
    "dropna": lambda d: d.where(d.t > 15).dropna("t"),
    "polyval": lambda d: xr.polyval(d.t, xr.DataArray(np.ones(2), dims="degree", coords={"degree": [0, 1]})) * d,
    "corr": lambda d: xr.corr(d, d**2, "t"),
    "cov": lambda d: xr.cov(d, d**2, "t"),
    "copy": lambda d: d.copy(deep=True),
    "copy with data": lambda d: d.copy(data=d.data * 2),
    "pipe": lambda d: d.pipe(np.sqrt),
    "broadcast": lambda d: xr.broadcast(d, xr.DataArray(np.zeros(2), dims="k"))[0],
    "align": lambda d: xr.align(d, d.isel(t=[1, 3]), join="inner")[0],
    "ones_like": lambda d: d * xr.ones_like(d) + xr.zeros_like(d),
    "writing elements": element,
    "writing by labels": by_label,
    "+=": in_place,
    "head and thin": lambda d: d.head(t=3).thin(t=2),
    "a pipeline": climatology,
}


def mixed(d, weights):
    """Return the sum of the elements that are no NaN, each times a weight."""
    present = np.isfinite(on_host(d.data))
    return xp.sum(xp.where(present, d.data, 0.0) * weights)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PIPELINES)
def test_values_labels_and_gradients_through(name):
    f = PIPELINES[name]
    x = Variable(VALUES.copy())
    found, expected = f(labelled(x)), f(labelled(VALUES.copy()))
    assert type(found.data) is Variable
    xr.testing.assert_allclose(found.copy(data=on_host(found.data)), expected)
    assert (found.dims, found.name, found.attrs) == (expected.dims, expected.name, expected.attrs)
    assert found.coords.identical(expected.coords)
    rng = np.random.default_rng(1)
    weights, direction = np.where(np.isfinite(expected), rng.standard_normal(expected.shape), 0), rng.random((4, 3))
    mixed(found, weights).backward()
    step = 1e-6 * direction
    above, below = (np.nansum(f(labelled(VALUES + sign * step)) * weights) for sign in (1, -1))
    np.testing.assert_allclose(np.sum(x.grad * direction), (above - below) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda d: d.isel(t=xr.DataArray([0, 1], dims="k"), s=xr.DataArray([2, 0], dims="k")),
        lambda d: d.interp(t=[15.0]),
        lambda d: d.interpolate_na("t"),
        lambda d: d.sortby(d.sum("s")),
        lambda d: d.values,
        lambda d: float(d.sum().values),
    ],
)
def test_operations_that_would_lose_the_gradient_raise(f):
    with pytest.raises(TypeError):
        f(labelled(Variable(VALUES)))


def loss(d):
    return (d.sel(t=slice(20, 30)) ** 2).mean("t").dot(xr.DataArray([1.0, 2.0, 3.0], dims="s"))


def test_gradients_of_labelled_arguments_have_their_labels():
    d = labelled(VALUES)
    value, found = value_and_grad(loss)(d)
    assert value.dims == ()
    assert (found.dims, found.name, found.attrs) == (d.dims, d.name, d.attrs)
    assert found.coords.identical(d.coords)
    np.testing.assert_allclose(found, VALUES * np.asarray([[0], [1], [1], [0]]) * [1.0, 2.0, 3.0])


def test_labelled_arguments_may_be_of_any_library(device):
    d = labelled(placed(VALUES, device))
    found = grad(lambda d: xp.sum((d.sel(t=slice(20, 30)) ** 2).data))(d)
    assert type(found.data) is type(d.data)
    assert found.coords.identical(d.coords)
    np.testing.assert_allclose(on_host(found.data), 2 * VALUES * np.asarray([[0], [1], [1], [0]]))


def test_gradients_of_gradients_products_and_tangents():
    d = labelled(VALUES)
    cubes = lambda d: (d**3).sum()  # noqa: E731
    second = grad(lambda d: grad(cubes)(d).sum())(d)
    np.testing.assert_allclose(second, 6 * VALUES)
    assert second.coords.identical(d.coords)
    (product,) = hvp(cubes, (d,), (xr.ones_like(d),))
    assert product.identical(second)
    value, tangent = jvp(lambda d: d.mean("t"), (d,), (xr.ones_like(d),))
    assert tangent.identical(xr.ones_like(value))
    value, pullback = vjp(lambda d: d.mean("t"), d)
    np.testing.assert_allclose(pullback(xr.ones_like(value))[0], np.full((4, 3), 0.25))


def test_a_cotangent_with_other_labels_raises():
    value, pullback = vjp(lambda d: d.mean("t"), labelled(VALUES))
    for wrong in (value.rename(s="q"), value.assign_coords(s=["a", "b", "x"])):
        with pytest.raises(StructureError, match=r"vjp: cotangent: expected the labels of DataArray .*, got"):
            pullback(wrong)


def test_datasets_are_trees_of_their_variables():
    ds = labelled(VALUES).to_dataset(name="v").assign(w=("s", [1.0, 2.0, 3.0]), n=("s", [1, 2, 3]), k=2.0)
    found = grad(lambda ds: (ds.v * ds.w * ds.k).sum())(ds)
    assert list(found.data_vars) == ["v", "w", "k"]  # integers have no gradient
    assert found.coords.identical(ds.coords)
    np.testing.assert_allclose(found.v, 2 * np.broadcast_to([1.0, 2.0, 3.0], (4, 3)))
    np.testing.assert_allclose(found.w, 2 * VALUES.sum(0))
    assert found.v.attrs == {"unit": "m"}


def test_jacobians_have_the_labels_of_outputs_and_arguments():
    d = labelled(VALUES)
    found = jacobian(lambda d: d.mean("t"))(d)
    assert found.dims == ("s_out", "t", "s")
    assert found.s_out.values.tolist() == found.s.values.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found, np.broadcast_to(0.25 * np.eye(3)[:, None, :], (3, 4, 3)))
    assert jacobian(lambda d: d.mean("t").data)(d).dims == ("dim_0", "t", "s")
    rows = sparse_jacobian(lambda d: d.mean("t"))(d).toarray()
    np.testing.assert_allclose(rows, found.values.reshape(3, 12))


def test_batches_of_results_have_one_dimension_more():
    d = labelled(VALUES)
    found = vmap(lambda x: d.copy(data=Variable(VALUES)) * x)(np.asarray([1.0, 2.0]))
    assert found.dims == ("dim_0", "t", "s")
    np.testing.assert_allclose(found.sel(t=20), [VALUES[1], 2 * VALUES[1]])


def test_a_program_is_for_the_labels_it_was_recorded_with():
    program = xpgrad.compile(lambda d: d.isel(t=1) * 2)
    d = labelled(VALUES)
    for shift in range(4):
        found = program(d + shift)
        np.testing.assert_allclose(found, 2 * (VALUES[1] + shift))
        assert found.t == 20
    assert program.cache_info().hits > 0
    other = d.assign_coords(t=[20, 10, 30, 40])
    assert program(other).t == 10
    ds = xr.Dataset({"a": d, "b": d * 2})
    total = xpgrad.compile(lambda ds: (ds.a * ds.b).sel(t=20).sum())
    lines = [ds + shift for shift in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xpgrad.CompileWarning)  # pandas' index changes a cache, in some versions
        found = [float(total(each)) for each in (*lines, *[ds.assign_coords(t=other.t)] * 3)]
    sums = [((VALUES + shift) * (2 * VALUES + shift))[1].sum() for shift in range(4)]
    np.testing.assert_allclose(found, [*sums, *[2 * (VALUES[0] ** 2).sum()] * 3])


def test_unknowns_and_states_are_labelled():
    d = labelled(VALUES)
    found = minimize(lambda d: ((d - d.t / 10) ** 2).sum(), d)
    assert found.x.coords.identical(d.coords)
    np.testing.assert_allclose(found.x.mean("s"), [1, 2, 3, 4], atol=1e-5)
    found = solve_ivp(lambda t, y: -y, (0, 1), d, t_eval=[0, 1], rtol=1e-6)
    assert found.y.dims == ("dim_0", "t", "s")
    np.testing.assert_allclose(found.y[1], VALUES * np.exp(-1), rtol=1e-5)


def test_a_variable_of_xarray_is_a_tree_too():
    x = xr.Variable(("t",), np.asarray([1.0, 2.0]))
    found = grad(lambda x: (x**2).sum())(x)
    assert type(found) is xr.Variable
    assert found.dims == ("t",)
    assert found.values.tolist() == [2.0, 4.0]
