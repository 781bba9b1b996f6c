"""Turns of phrase that make prose hard to read, in docstrings, comments, error messages, help texts and Markdown.

`python -m tests.docs.prose` lists the score of each package and the worst sentences. The score is the weighted number
of matches per 1,000 sentences, times `SCALE`. NumPy, SciPy, JAX and Hypothesis have 10 to 31. A match is a sentence to
reread, not an error.
"""

import ast
import contextlib
import os
import re
from pathlib import Path

# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"
# ruff: noqa: E501, SIM905

SCALE = 0.49  # keeps the unit of the first count, 225 for this project on 2026-11-28, in which limits are given
WHAT = r"\b[Ww]hat (?!(?:if|to|happens|does|do|is new|should|kind|type)\b)(?!.*\?)"
VERB = r"(?:(?:Return|Yield|Give|Say|Set|Raise|Make|Write|Read|Run|Keep|Take|Put|Move|Do|Check) (?:whether |if )?)?"
BE, PREP = r"(?:is|are|was|were|be)", r"(?:of|for|from|by|with|to|in|on|at)"
PATTERNS = {  # name: weight, regular expression
    "first line without a concrete noun": (3, r"(?!)"),  # see VAGUE
    "starts: what, that, there, it, one": (
        2,
        rf"^{VERB}(?:{WHAT}|(?:it|they|them|there) |(?:that|those|one|all|none|nothing) "
        rf"(?:{BE}|{PREP}|that|which|has|have|does|do)\b)",
    ),
    "there is none, is there": (
        2,
        rf"\b[Tt]here {BE} (?:one|none|some|no such)\b|\b{BE} none\b|\b(?:where|that|what|than) there {BE}\b"
        rf"|\b{BE} there\b(?! (?:a|an|any|some|to)\b)(?!.*\?)",
    ),
    "what, for a noun": (1, WHAT),
    "that of, those of, those that": (
        1,
        rf"\b[Tt]hat of\b|\b[Tt]hose(?=[.,;:]| (?:that|which|who|whose|it|they|are|{PREP})\b)",
    ),
    "of which, by which, to which": (
        1,
        r"(?<!one )(?<!some )(?<!each )(?<!all )\b(?:of|by|to|beside|between|among) which\b",
    ),
    "one, for a noun": (
        1,
        r"\bones?(?=[.;])|\bones? (?:that|which|whose|who)\b|\bone of (?:them|these|those)\b"
        r"|\b(?:the|this|that|another|each|no|every|any|same|last|first|other|next) ones?(?=[,: ])(?! (?:of|hot|or|to)\b)",
    ),
    "others, all that, nothing, nobody": (
        1,
        r"\b[Oo]thers\b|\ball (?:that|else|of (?:it|them))\b|\b(?:[Nn]othing|[Nn]obody|[Nn]o two)\b",
    ),
    "of its own, by itself": (1, rf"\bof \w+ own\b|\bown\b(?=[.,;:])|\b{PREP} (?:itself|themselves)\b"),
    "as it is; ends: is, has, does": (
        1,
        rf"\bas (?:it|they|what|there|that|those) (?:{BE}|does|do|stands?|comes?)\b"
        rf"|\b\w+ (?:{BE}|do|does|did|has|have|can|may|must|cannot)(?: not)?(?=[.;]|$)",
    ),
    "ends: of it, for them": (1, rf"\b(?:{PREP}|than) (?:it|them)(?=[.,;:])"),
    "ends: NumPy's": (1, r"\w's(?=[.,;:]|$)"),
    ", of ..., ; by ...": (1, r"[,;:] (?:or |but |as |not )?(?:of (?!course)|by (?!default|\w+ing\b))"),
    "two stops: colon, semicolon": (1, r"^[A-Z][^()]*(?::[^()]*;|;[^()]*:|;[^()]*;)"),
    "stands, asks, told, says, knows": (
        1,
        r"\b(?:[Ss]tands?(?! out)|(?:asks|asked|told|tells|knows|wanted|says|said)(?! (?:that|we|you)\b))\b",
    ),
    "alone, alike, beside, at once, too": (
        1,
        r"\b(?:[Bb]esides?|alike|[Ww]hatever|[Ww]herever|at once|alone|elsewhere|by turns)\b|, too\b",
    ),
    "made of, enters, handed on": (
        1,
        r"\b(?:made (?:of|from|by|out)|enters?|entered|hand(?:s|ed) (?:on|over|out|back|to)|goes (?:on|back|by)"
        r"|comes? (?:back|out|after)|puts? (?:together|back|into|in)|look(?:s|ed) at|given back|gone)\b",
    ),
}
COMPILED = {name: re.compile(pattern) for name, (_, pattern) in PATTERNS.items()}
VAGUE = set(
    """a an the this that these those it its they them their which what how why whether if than then there here is are was were be been being
do does did done has have had can may must should not yet no nothing none one ones other others another each all both some such same own only also too and
or but as so for of from to in on at by with into over out under once now ever return yield give say tell take taken make get keeps keep go goes come first
let ask asked need needs know known hold stand stays leave use used run set show find call called way mean lack thing things kind case place""".split()
)
SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`\"'(*\[])|\n\s*\n")
NOISE = re.compile(
    r"^\s*(?:>>>|\.\.\. |\.\. |[-=~^]{3,}).*$|^[\w*`, ]+ : .*$", re.M
)  # examples, directives, lines with types
TOKEN = re.compile(  # a string, or a comment with the comments on the lines after it
    r"""(?s)\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*(?:\n[ \t]*\#[^\n]*)*"""
)
SKIPPED = {"__pycache__", "node_modules", "build", "dist", "_build", "_vendor", "site"}


def python_texts(source):
    """Yield (line, text, whether it is a docstring) for docstrings, error messages, help texts and comments."""
    pending = []
    with contextlib.suppress(SyntaxError, ValueError):  # in anchors' templates
        pending.append(ast.parse(source))
    while pending:  # visits statements only: visiting every expression takes three times as long
        node = pending.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, field, ())
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            yield node.body[0].lineno, node.body[0].value.value, True
        calls = [*getattr(node, "decorator_list", ()), getattr(node, "value", None)]
        helps = [word.value for call in calls for word in getattr(call, "keywords", ()) if word.arg == "help"]
        for root in [node.exc] if isinstance(node, ast.Raise) and node.exc else helps:
            yield (
                root.lineno,
                " ".join(str(part.value) for part in ast.walk(root) if isinstance(part, ast.Constant)),
                False,
            )
    for match in TOKEN.finditer(source):
        if match[0].startswith("#"):
            yield source.count("\n", 0, match.start()) + 1, re.sub(r"(?m)^\s*#[#!:]* ?", "", match[0]), False


def markdown_texts(source):
    """Yield (line, paragraph, False) for text outside code blocks."""
    fenced, block = False, []
    for number, line in enumerate([*source.split("\n"), ""], 1):
        fenced ^= (fence := line.lstrip().startswith(("```", "~~~")))
        if fence or fenced or not line.strip() or re.match(r"\s*(?:[-*|#]|\d+\.)\s", line):
            yield number - len(block), "\n".join(block), False
            block = []
        block += [line.strip("#|-* ")] * (not fence and not fenced)


def files_of(root):
    """Yield the Python and Markdown files of a folder, without those of environments and builds."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(".")]
        for name in names:
            if name.endswith((".py", ".md")) and name not in SKIPPED and not name.startswith("."):
                yield Path(folder, name)


def sentences(root):
    """Yield (package, file, line, sentence, names of matched patterns) for every sentence of at least four words."""
    for path in sorted(files_of(root)):
        parts = path.relative_to(root).parts
        package = "/".join(parts[:-1][: {"core": 3, "plugins": 2, "backends": 2}.get(parts[0], 1)]) or "(top)"
        for line, text, docstring in (python_texts if path.suffix == ".py" else markdown_texts)(
            path.read_text(errors="replace")
        ):
            text = re.sub(r"(?s)``.*?``|`[^`]*`", lambda code: "X" + "\n" * code[0].count("\n"), NOISE.sub("", text))
            start = len(text) - len(text.lstrip())
            for number, (end, following) in enumerate(
                [m.span() for m in SENTENCE.finditer(text, start)] + [(len(text), 0)]
            ):
                sentence = " ".join(text[start:end].split())
                if sentence.count(" ") > 2:
                    found = [name for name, pattern in COMPILED.items() for _ in pattern.finditer(sentence)]
                    if (
                        docstring
                        and not number
                        and {word.lower() for word in re.findall(r"\w[\w']*", sentence)} <= VAGUE
                    ):
                        found.append("first line without a concrete noun")
                    yield package, path.relative_to(root), line + text.count("\n", 0, start), sentence, found
                start = following


def scores(root: Path) -> tuple[float, dict[str, float], list[str]]:
    """Return the score of the project, the score of each package, and its sentences with matches, the worst first."""
    packages: dict[str, list[float]] = {}
    worst = []
    for package, path, line, sentence, found in sentences(root):
        weight = SCALE * sum(PATTERNS[name][0] for name in found)
        counts = packages.setdefault(package, [0, 0])
        counts[0] += 1
        counts[1] += weight
        if found:
            names = "; ".join(dict.fromkeys(found))
            worst.append((weight / sentence.count(" ") ** 0.5, f"{path}:{line}: {sentence[:240]}  [{names}]"))
    total = sum(counts[1] for counts in packages.values()) / sum(counts[0] for counts in packages.values())
    found = {package: 1000 * weight / count for package, (count, weight) in packages.items()}
    return 1000 * total, found, [text for _, text in sorted(worst, reverse=True)]


if __name__ == "__main__":
    whole, each, shown = scores(Path(__file__).parents[2])
    for package, score in sorted(each.items(), key=lambda row: row[1]):
        print(f"{score:4.0f}  {package}")
    print(*shown[:30], f"score {whole:.0f} per 1,000 sentences", sep="\n")
