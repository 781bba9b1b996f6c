"""Times of the examples of autograd by both libraries: `python -m benchmarks.autograd_examples SOURCES` prints a table.

SOURCES is the unpacked source distribution of autograd, which has the examples:

    pip download autograd==1.9.1 --no-deps --no-binary :all: && tar xf autograd-1.9.1.tar.gz

The programs are unchanged (`benchmarks.autograd_program`). Both libraries run each program several times in
alternation, in new processes. The times are minima of processor time, without imports. The exit status is 1 if numbers
differ or a limit is missed.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.unchanged import difference, run

LIBRARIES = "autograd", "xpgrad"
TOLERANCE = 1e-4
EACH, SUM = 1.0, 0.5
"""The limits of the ratio of times, for each example and for their sum."""


class Example(NamedTuple):
    """A program, and the steps that its optimizers take."""

    name: str
    steps: int
    drawn: bool = True
    """Whether drawings are compared: samples of an unseeded generator are not."""


EXAMPLES = (
    Example("bayesian_neural_net", 100),
    Example("black_box_svi", 200),
    Example("deep_gaussian_process", 20, drawn=False),
    Example("define_gradient", 1),
    Example("fixed_points", 1),
    Example("fluidsim/fluidsim", 1),
    Example("fluidsim/wing", 1),
    Example("gaussian_process", 20, drawn=False),
    Example("gmm", 10),
    Example("gplvm", 20),
    Example("ica", 50),
    Example("logistic_regression", 1),
    Example("lstm", 5),
    Example("mixture_variational_inference", 20),
    Example("natural_gradient_black_box_svi", 10),
    Example("negative_binomial_maxlike", 50),
    Example("neural_net_regression", 200),
    Example("ode_net", 2),
    Example("print_trace", 1),
    Example("rkhs", 1),
    Example("rnn", 5),
    Example("rosenbrock", 50),
    Example("sinusoid", 1),
    Example("tanh", 1),
    Example("neural_net", 10),
    Example("variational_autoencoder", 10),
)
"""Not among them: `bayesian_optimization`, which fails with autograd, `hmm_em`, `convnet` and
`generative_adversarial_net`, which take minutes, `dot_graph`, which only prints a graph, and `data`, `data_mnist`."""


def main() -> int:
    """Print the table, and return whether an example differs or is too slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.autograd_examples", description=__doc__)
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--runs", type=int, default=3, metavar="COUNT")
    arguments = parser.parse_intermixed_args()
    print("| Example | Steps | autograd, s | xpgrad, s | Ratio | Largest difference |\n|---|---:|---:|---:|---:|---:|")
    sums, passed = [0.0, 0.0], True
    for example in EXAMPLES:
        if arguments.names and example.name not in arguments.names:
            continue
        done = [
            [run_example(library, arguments.sources, example) for library in LIBRARIES] for _ in range(arguments.runs)
        ]
        theirs, ours = (min(run["seconds"] for run in runs) for runs in zip(*done, strict=True))
        keys = ("numbers", "drawn") if example.drawn else ("numbers",)
        apart = max(difference(*(found[key] for found in done[0])) for key in keys)
        passed &= ours <= EACH * theirs and apart <= TOLERANCE
        sums = [sums[0] + theirs, sums[1] + ours]
        cells = f"{example.name} | {example.steps} | {theirs:.4f} | {ours:.4f} | {ours / theirs:.2f} | {apart:.0e}"
        print(f"| {cells} |", flush=True)
    print(f"| Sum | | {sums[0]:.4f} | {sums[1]:.4f} | {sums[1] / sums[0]:.2f} | |")
    return int(not passed or sums[1] > SUM * sums[0])


def run_example(library: str, sources: Path, example: Example) -> dict[str, Any]:
    """Return the seconds and the numbers of one run."""
    program = str(sources / "examples" / f"{example.name}.py")
    command = [sys.executable, "-m", "benchmarks.autograd_program", library, str(sources), program, str(example.steps)]
    found: dict[str, Any] = run(f"{example.name} with {library}", command)
    return found


if __name__ == "__main__":
    sys.exit(main())
