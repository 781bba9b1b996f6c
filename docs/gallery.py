"""The gallery: its pages, and the output of its programs; `python docs/gallery.py [NAME ...]` runs them again."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PICTURES = ROOT / "examples" / "pictures"
PROGRAMS = {
    "gaussian_process": "A forecast of CO2 by a Gaussian process with eleven hyperparameters.",
    "maximum_likelihood": "A negative binomial regression, by exact Hessians.",
    "phase_retrieval": "A complex image from magnitudes, with gradients of complex numbers.",
    "pde_adjoint": "The source of a tsunami, by the adjoint of a differential equation.",
    "problems/registration": "A photograph turned, scaled and shifted onto another.",
    "problems/regression": "A Gaussian process with a length for each feature.",
    "problems/heat": "The conductivity of a rod, by sparse solves.",
    "problems/filtering": "The coefficients of a filter, by what it plays.",
    "problems/monotone": "A spline that only rises.",
    "chainer/convnet": "A convolutional net on handwritten digits.",
    "chainer/language_model": "A language model with two layers of LSTM.",
    "chainer/wgan_gp": "A generator and a critic, with a penalty of gradients.",
    "chainer/word2vec": "Vectors of words from skip-grams.",
    "chainer/vae": "A variational autoencoder of digits.",
}
"""The programs of the gallery under examples/, with the sentence on the card."""


def title(program: str) -> str:
    """Return the title of a page: the first words of the program's docstring."""
    text = (ROOT / "examples" / f"{program}.py").read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or program
    return said.partition(":")[0].partition(".")[0]


def stem(program: str) -> str:
    """Return the name of the files that belong to a program."""
    return program.replace("/", "_")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the names of pages, without suffix, with their texts."""
    yield "index", index()
    for program in PROGRAMS:
        name = title(program)
        yield (
            stem(program),
            f"{name}\n{'=' * len(name)}\n\n{PROGRAMS[program]}\n\n"
            f".. image:: ../../examples/pictures/{stem(program)}.png\n   :alt: {name}\n\n"
            f"It prints:\n\n.. literalinclude:: ../../examples/pictures/{stem(program)}.txt\n   :language: text\n"
            f"   :class: printed\n\nRun ``python examples/{program}.py --plot FILE.png``. The program:\n\n"
            f".. literalinclude:: ../../examples/{program}.py\n   :language: python\n",
        )


def index() -> str:
    """Return the page with the cards."""
    text = (
        ":html_theme.sidebar_secondary.remove: true\n\nGallery\n=======\n\nPrograms on real data, with the figures "
        "and the output of a run. ``pip install 'xpgrad[examples]'`` installs the data "
        "sets and matplotlib.\n\n.. grid:: 1 2 2 3\n   :gutter: 3\n\n"
    )
    for program, said in PROGRAMS.items():
        text += (
            f"   .. grid-item-card:: {title(program)}\n      :link: {stem(program)}\n      :link-type: doc\n"
            f"      :img-top: ../../examples/pictures/{stem(program)}.png\n      :class-img-top: gallery\n\n"
            f"      {said}\n\n"
        )
    return text + "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   {stem(program)}\n" for program in PROGRAMS)


def printed(program: str) -> str:
    """Run a program, and return its output without progress bars."""
    command = [sys.executable, str(ROOT / "examples" / f"{program}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return "".join(line for line in done.stdout.splitlines(keepends=True) if "━" not in line)


def main() -> None:
    """Write the output of the named programs, or of all programs."""
    for program in sys.argv[1:] or PROGRAMS:
        (PICTURES / f"{stem(program)}.txt").write_text(printed(program), encoding="utf-8")


if __name__ == "__main__":
    main()
