"""The conductivity of a rod by its temperatures: implicit steps with one sparse factorization, and its adjoint."""

import numpy as np
from picture import plot

import xpgrad.array_api as xp
from xpgrad.scipy import minimize, sparse

N, STEPS, DT = 40, 30, 0.02
PLACES = np.linspace(0, 1, N + 1)  # of the walls between N cells; both ends are cold
TRUE = 0.1 + 0.4 * (PLACES > 0.55) + 0.1 * np.sin(7 * PLACES)
ROWS = np.repeat(np.arange(N), 3)[1:-1]
COLUMNS = ROWS + np.tile([-1, 0, 1], N)[1:-1]
HOT = np.exp(-40 * (0.5 * (PLACES[1:] + PLACES[:-1]) - np.array([[0.3], [0.7]])) ** 2).sum(axis=0)


def temperatures(conductivity):
    """Return the temperatures after each tenth step, by a matrix that is factored once."""
    flow = DT * N**2 * conductivity
    entries = xp.stack([-flow[:-1], 1 + flow[:-1] + flow[1:], -flow[1:]], axis=1).ravel()[1:-1]
    factors, u, found = sparse.linalg.splu(sparse.coo_array((entries, (ROWS, COLUMNS)), (N, N))), HOT, []
    for step in range(STEPS):
        u = factors.solve(u)
        found += [u] * (step % 10 == 9)
    return xp.stack(found)


def run():
    measured = temperatures(TRUE).array + np.random.default_rng(0).normal(scale=1e-4, size=(3, N))

    def loss(p):  # few changes are more likely than many
        return 1e6 * xp.mean((temperatures(xp.exp(p)) - measured) ** 2) + 0.1 * xp.sum(xp.abs(xp.diff(p)) ** 1.2)

    return np.exp(minimize(loss, np.full(N + 1, np.log(0.3)), method="L-BFGS-B").x)


if __name__ == "__main__":
    found = run()
    print(f"conductivity: error {np.abs(found - TRUE)[2:-2].max():.3f} of {TRUE.max():.2f}")
    plot(lambda ax: [ax.plot(PLACES, TRUE, PLACES, found), ax.set(xlabel="place"), ax.legend(["true", "found"])])
