"""A filter fitted to a recording: the coefficients of an unknown resonance, through `signal.lfilter`."""

import numpy as np
from picture import plot

import xpgrad.array_api as xp
from xpgrad.scipy import minimize, signal

B, A = np.array([0.2, 0.3, -0.1]), np.array([1.0, -1.1, 0.7])


def coefficients(p):
    """Return numerator and denominator: by reflections between -1 and 1, so that the filter is stable."""
    first, second = xp.tanh(p["reflections"])
    return p["b"], xp.stack([xp.ones_like(first), first * (1 + second), second])


def gain(b, a, w):
    z = np.exp(-1j * w)[:, None] ** np.arange(3)
    return np.abs(z @ b / (z @ a))


def run():
    rng = np.random.default_rng(0)
    sound = rng.normal(size=4000)
    recording = signal.lfilter(B, A, sound).array + rng.normal(scale=0.1, size=4000)
    loss = lambda p: xp.mean((signal.lfilter(*coefficients(p), sound) - recording) ** 2)  # noqa: E731
    p = minimize(loss, {"b": np.array([1.0, 0.0, 0.0]), "reflections": np.zeros(2)}, method="BFGS").x
    return [np.asarray(each) for each in coefficients(p)]


if __name__ == "__main__":
    b, a = run()
    print("numerator", b.round(3), "denominator", a.round(3))
    print(f"largest error of a coefficient: {max(np.abs(b - B).max(), np.abs(a - A).max()):.4f}")
    w = np.linspace(0, np.pi, 300)
    plot(lambda ax: [ax.plot(w, gain(B, A, w), w, gain(b, a, w), "--"), ax.set(xlabel="frequency", ylabel="gain")])
