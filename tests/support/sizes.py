"""A report of sizes, which fails nothing: long files and functions, and folders that hold a lot.

`python -m tests.support.sizes` prints it. A file is cut where its meaning changes, so a line of the
report is a reason to look, not to cut.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.paths import ROOT

FOLDERS: Final = ("scoring", "evalsite", "templates", "static", "tests", "benchmarks", "docs")
SUFFIXES: Final = {".py", ".html", ".jinja", ".css", ".js", ".md"}
MAX_LINES: Final = 600  # of a file
MAX_FUNCTION_LINES: Final = 60
MAX_MODULES: Final = 15  # in a folder, `__init__.py` left out
MAX_TEMPLATES: Final = 25  # in a folder


def report(root: Path) -> Iterator[str]:
    """One line for each finding, the largest of a kind first."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in SUFFIXES and not {"__pycache__", "migrations"} & set(path.parts)
    ]
    lines = Counter({path: len(path.read_text().splitlines()) for path in files})
    yield from _above(lines, MAX_LINES, root, "lines")
    code = [path for path in files if path.suffix == ".py"]
    for path in code:
        for name, length in functions(path.read_text()):
            if length > MAX_FUNCTION_LINES:
                yield f"{path.relative_to(root)}: {name} has {length} lines"
    source = [path for path in code if path.relative_to(root).parts[0] in {"scoring", "evalsite"}]
    modules = Counter(path.parent for path in source if path.name != "__init__.py")
    yield from _above(modules, MAX_MODULES, root, "modules")
    templates = Counter(path.parent for path in files if path.suffix in {".html", ".jinja"})
    yield from _above(templates, MAX_TEMPLATES, root, "templates")


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and number of lines of every function in a module's text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def _above(counts: Counter[Path], most: int, root: Path, noun: str) -> Iterator[str]:
    for path, count in counts.most_common():
        if count > most:
            yield f"{path.relative_to(root)}: {count} {noun}"


if __name__ == "__main__":
    for line in report(ROOT):
        print(line)  # noqa: T201  what a command is for
