"""Calls of libraries for learning, signals, cosmology and weather."""

from typing import Any

from consumed.library import Library


def _dispatch(names: dict[str, Any]) -> None:
    names["set_config"](array_api_dispatch=True)


def _without_units(names: dict[str, Any]) -> None:
    names["disable_units"]()


SCIENCE = (
    Library(
        "scikit-learn",
        """
        euclidean_distances(a, b)
        cosine_similarity(a, b)
        cosine_distances(a, b)
        manhattan_distances(a, b)
        paired_euclidean_distances(a, b)
        paired_cosine_distances(a, b)
        pairwise_distances(a, b, metric='cosine')
        linear_kernel(a, b)
        polynomial_kernel(a, b)
        rbf_kernel(a, b)
        sigmoid_kernel(a, b)
        laplacian_kernel(a, b)
        additive_chi2_kernel(b, b + 0.1)
        chi2_kernel(b, b + 0.1)
        mean_squared_error(a, b, multioutput='raw_values')
        MinMaxScaler().fit_transform(a)
        MaxAbsScaler().fit_transform(a)
        Normalizer().fit_transform(a)
        KernelCenterer().fit_transform(k)
        PolynomialFeatures().fit_transform(a)
        PCA(2).fit_transform(w)
        PCA(2, svd_solver='covariance_eigh').fit_transform(w)
        PCA(2, svd_solver='full').fit(w).explained_variance_
        Ridge(solver='svd').fit(w, q[:12]).coef_
        RidgeCV().fit(w, q[:12]).coef_
        RidgeClassifier(solver='svd').fit(w[:7], n).decision_function(w)
        LinearDiscriminantAnalysis().fit(w[:7], n).predict_proba(w)
        GaussianNB().fit(w[:7], n).predict_joint_log_proba(w)
        Nystroem(n_components=3, random_state=0).fit_transform(w)
        mean_squared_error(x, y)  # number: float() at the end; multioutput='raw_values' has none
        r2_score(x, y)  # number: float() at the end, like all metrics that return a single number
        log_loss(n, u)  # number: float() at the end
        PCA(2, svd_solver='full').fit(w).score(w)  # number: float() at the end
        median_absolute_error(x, y)  # number: float() at the end
        StandardScaler().fit_transform(a)  # nan: divides 0 by 0 where the quotient is not used; see anomaly_detection
        Binarizer(threshold=0.1).fit_transform(a)  # constant: steps
        LinearRegression().fit(w, q[:12]).coef_  # converts: for SciPy's lstsq; Ridge(solver='svd') does not
        LogisticRegression().fit(w[:7], n).coef_  # converts: for SciPy's optimiser
        GaussianMixture(2, init_params='random', random_state=0, max_iter=3).fit(w).means_  # differs: adds to a view, \
which the standard leaves open: Variables' views are values
        """,
        (
            "sklearn",
            "sklearn.metrics",
            "sklearn.metrics.pairwise",
            "sklearn.preprocessing",
            "sklearn.decomposition",
            "sklearn.linear_model",
            "sklearn.discriminant_analysis",
            "sklearn.naive_bayes",
            "sklearn.kernel_approximation",
            "sklearn.mixture",
        ),
        prepare=_dispatch,
    ),
    Library(
        "array-api-signal",
        """
        trapezoid(x, t)
        simpson(x, x=t)
        interp(y, t, x)
        logsumexp(a, axis=1)
        convolve(q, p, mode='constant')
        gaussian_filter1d(q, 1.5, mode='constant')
        ndtr(x)  # raises: has a fixed list of the namespaces with this function
        """,
        ("array_api_signal.integral", "array_api_signal.signal", "array_api_signal.special"),
    ),
    Library(
        "distmarg",
        """
        ln_phi(x)
        log_diff_ndtr(x, y + 2, xp)
        mills(x, xp)
        logsumexp_lastaxis(a, xp)
        """,
        ("distmarg._special",),
    ),
    Library(
        "glass",
        """
        nnls(b, y[:4])
        cov_clip(s + s.T)
        nearcorr(k)
        cumulative_trapezoid(x, t)
        corr(Lognormal(1.5), Lognormal(0.7), x)
        icorr(Lognormal(1.5), Lognormal(0.7), x)
        dcorr(Lognormal(1.5), Lognormal(0.7), x)
        multalm(q[:10], x[:4])
        linear_bias(x, 0.8)
        loglinear_bias(x, 0.8)
        lognormal_shift_hilbert2011(x)
        smail_nz(x, 0.5, 1.5, 2.0)  # converts: has a fixed list of the namespaces with trapezoid
        ndinterp(y, t, x)  # converts: has a fixed list of the namespaces with interp
        """,
        ("glass", "glass.algorithm", "glass.arraytools", "glass.grf", "glass.harmonics"),
    ),
    Library(
        "wcosmo",
        """
        efunc(x, r, -1.0)
        inv_efunc(x, r, -1.0)
        luminosity_distance(x, 70.0, r, -1.0)  # raises: uses xp.array, which is not in the standard
        """,
        ("wcosmo",),
        prepare=_without_units,
    ),
    Library(
        "earthkit-meteo",
        """
        celsius_to_kelvin(x)
        dewpoint_from_relative_humidity(x + 280, u * 100)
        lcl(x + 280, y + 273, z * 5e4)
        relative_humidity_from_dewpoint(x + 280, y + 273)
        virtual_temperature(x + 280, y * 0.01)
        speed(x, y)  # converts: treats unknown libraries as NumPy
        potential_temperature(x + 273, y * 1e5)  # converts: as above
        """,
        ("earthkit.meteo.thermo.array", "earthkit.meteo.wind.array"),
    ),
)
