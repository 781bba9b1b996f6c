"""Calls of libraries about arrays themselves."""

from typing import Any

from consumed.library import Library


def _register(names: dict[str, Any]) -> None:
    import xpgrad.interop.einops  # noqa: F401 - xpgrad was imported before einops


ARRAYS = (
    Library(
        "array-api-extra",
        """
        angle(c)
        apply_where(x > 1, (x, y), lambda e, f: e * f, fill_value=0.0)
        apply_where(x > 1, (x,), lambda e: e**2, lambda e: 1 / e)
        at(x * 1)[2].set(r)
        at(x * 1)[1:3].add(y[:2])
        at(x * 1)[1:3].subtract(y[:2])
        at(x * 1)[1:3].multiply(y[:2])
        at(x * 1)[1:3].divide(y[:2])
        at(x * 1)[1:3].power(y[:2])
        at(x * 1)[1:3].min(y[:2])
        at(x * 1)[1:3].max(y[:2])
        at(x * 1)[x > 1].set(0.0)
        atleast_nd(x, ndim=3)
        cov(a)
        create_diagonal(a)
        deg2rad(x)
        expand_dims(x, axis=(0, 2))
        kron(a, b)
        lazy_apply(lambda e: np.sin(e), x)
        nan_to_num(x)
        nanmax(x)
        nanmean(x)
        nanmin(x)
        nansum(x)
        pad(a, 2, constant_values=1.5)
        partition(x, 3)
        rad2deg(x)
        setdiff1d(x, y)
        sinc(x)
        s[tril_indices(3, xp=xp)]
        union1d(x, y)
        at(x)[2].set(r)  # raises: assigns to the elements of its argument; at(x, copy=True) does not
        """,
        ("array_api_extra",),
        whole=True,
    ),
    Library(
        "einops",
        """
        rearrange(a, 'i j -> (j i)')
        rearrange([x, y], 'k i -> i k')
        reduce(a, 'i j -> j', 'mean')
        reduce(a, 'i j -> j', 'max')
        reduce(a, 'i j -> j', 'prod')
        reduce(m, '(h 2) (w 2) -> h w', xp.max)
        repeat(x, 'i -> i 3')
        einsum(a, b, 'i j, k j -> i k')
        pack([x, a[:, 0]], '*')
        unpack(x, [[3], [4]], '*')
        """,
        ("einops",),
        prepare=_register,
    ),
    Library(
        "opt_einsum",
        """
        contract('ij,jk,k->i', s, k, p)
        contract('ii->i', s)
        contract_expression('ij,kj->ik', (4, 3), (4, 3))(a, b)
        """,
        ("opt_einsum",),
    ),
    Library(
        "autoray",
        """
        do('tanh', x)
        do('clip', x, 0.5, 1.0)
        do('concatenate', [x, y])
        do('diag', x)
        do('einsum', 'ij,kj->ik', a, b)
        do('kron', a, b)
        do('pad', x, 2)
        do('take', x, n)
        do('tensordot', a, b, axes=[[1], [1]])
        do('trace', s)
        do('transpose', a, (1, 0))
        do('linalg.det', s)
        do('linalg.eigh', k)[0]
        do('linalg.norm', a)
        do('linalg.qr', a)[1]
        do('linalg.solve', s, p)
        do('linalg.svd', a)[1]
        do('linalg.expm', s)  # raises: no such function in xpgrad
        """,
        ("autoray",),
        whole=True,
    ),
    Library(
        "einx",
        """
        sum('i [j]', a)
        mean('[i] j', a)
        dot('i j, k j -> i k', a, b)
        multiply('i, j -> i j', x, y)
        rearrange('i j -> j i', a)
        softmax('i [j]', a)
        logsumexp('i [j]', a)
        get_at('[i], j -> j', x, n)
        """,
        ("einx",),
    ),
    Library(
        "xarray",
        """
        (A * DataArray(p, dims='j')).data
        A.T.data
        A.isel(i=2).data
        A.stack(k=('i', 'j')).data
        A.sum('i').data
        A.mean('i').data
        A.std('i').data
        A.max('i').data
        A.prod('j').data
        np.exp(A).data
        where(X > 1, X, 0.0).data
        X.clip(0.5, 1.2).data
        X.coarsen(i=2, boundary='trim').mean().data
        X.copy().data
        X.cumsum('i').data
        X.diff('i').data
        X.expand_dims('k').data
        X.fillna(0.0).data
        X.groupby('i').mean().data
        X.integrate('i').data
        X.pad(i=1, constant_values=0.0).data
        X.reindex(i=[4, 2, 0]).data
        X.reindex(i=[0, 9], fill_value=0.0).data
        X.roll(i=1).data
        X.rolling(i=3, min_periods=1).mean().data
        X.sel(i=[0, 4]).data
        X.shift(i=1, fill_value=0.0).data
        X.sortby('i', ascending=False).data
        X.weighted(Y).mean().data
        X.where(X > 1, drop=True).data
        align(X, Y.isel(i=[1, 3]), join='inner')[0].data
        apply_ufunc(xp.tanh, X).data
        concat([X, Y], dim='i').data
        corr(X, Y).data
        cov(X, Y).data
        dot(A, DataArray(b, dims=('k', 'j')), dim='j').data
        X.differentiate('i').data
        X.interp(i=[0.5, 1.5]).data  # converts: for SciPy's compiled interpolators
        X.median('i').data
        X.quantile(0.3).data
        """,
        ("xarray",),
        whole=True,
        short={
            "A": "DataArray(a, dims=('i', 'j'))",
            "X": "DataArray(x, dims='i', coords={'i': [0, 1, 2, 3, 4, 5, 6]})",
            "Y": "DataArray(y, dims='i', coords={'i': [0, 1, 2, 3, 4, 5, 6]})",
        },
    ),
)
