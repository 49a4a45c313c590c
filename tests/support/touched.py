"""The test files of what a change touches, for pytest to run.

    python -m tests.support.touched [COMMIT]

What changed since the commit, by default the last one, and what git does not know yet, is looked up
in imports and in the names of templates. Of a module these are its own test file, those that import
it, and those of the modules that import it; of a template the test folders of the modules that name
it or one around it; of styles and scripts the browser's; of anything else all.

That is one import away, which is what a mistake breaks first. It is no proof: the whole suite is.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from tests.support.paths import ROOT, path_of_test

TOPS: Final = ("scoring", "evalsite")
TEMPLATE: Final = re.compile(r"[\"']([\w/.-]+\.(?:html|jinja|txt))[\"']")
NEEDS_NO_TEST: Final = ("docs/", "benchmarks/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
EVERYTHING: Final = "tests"


class House:
    """A checkout as a graph: which module imports which, and who names which template."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The dotted names that each Python file imports, by its path."""
        files = (path for top in (*TOPS, "tests") for path in (self.root / top).rglob("*.py"))
        return {self.name(path): set(imported(path.read_text())) for path in sorted(files)}

    @cached_property
    def templates(self) -> dict[str, set[str]]:
        """The templates that each file of code and each template names, by its path."""
        folders = (*TOPS, "templates")
        files = (path for folder in folders for path in (self.root / folder).rglob("*"))
        return {
            self.name(path): set(TEMPLATE.findall(path.read_text()))
            for path in sorted(files)
            if path.suffix in {".py", ".html", ".jinja", ".txt"}
        }

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def importers(self, module: str) -> set[str]:
        dotted = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return {path for path, names in self.imports.items() if dotted in names}

    def around(self, template: str) -> set[str]:
        """Who names the template, or one that holds it."""
        found: set[str] = set()
        waiting = [template.removeprefix("templates/")]
        while waiting:
            name = waiting.pop()
            naming = {path for path, names in self.templates.items() if name in names} - found
            found |= naming
            waiting += [path.removeprefix("templates/") for path in naming]
        return found

    def own_test(self, module: str) -> Iterator[str]:
        test = path_of_test(self.root / module, self.root)
        if not test.exists():  # forms and serializers are tested with the views beside them
            test = test.with_name("test_views.py")
        if test.exists():
            yield self.name(test)

    def tests_of(self, changed: str) -> Iterator[str]:
        """The test files and folders of one changed file."""
        path, first = Path(changed), Path(changed).parts[0]
        if changed.startswith(NEEDS_NO_TEST):
            return
        if first == "static":
            yield "tests/browser"
        elif first == "templates":
            code = {name for name in self.around(changed) if name.endswith(".py")}
            yield from {
                Path(test).parent.as_posix() for each in code for test in self.own_test(each)
            }
        elif first == "tests" and path.suffix == ".py":
            yield from self._tests_of_test_code(path)
        elif first in TOPS and path.suffix == ".py" and not path.stem.endswith("settings"):
            for module in {changed, *self.importers(changed)}:
                yield from self.own_test(module) if not is_test(module) else (module,)
        else:
            yield EVERYTHING

    def _tests_of_test_code(self, path: Path) -> Iterator[str]:
        """The file itself, the folder of a conftest, or those that import what is neither."""
        waiting, seen = [path.as_posix()], set[str]()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            if is_test(name):
                yield name
            elif name.endswith("/conftest.py"):
                yield Path(name).parent.as_posix()
            else:
                waiting += self.importers(name) - seen


def is_test(name: str) -> bool:
    return name.startswith("tests/") and Path(name).name.startswith("test_")


def imported(source: str) -> Iterator[str]:
    """The dotted names that a module's text imports, of packages and of what is in them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def touched(root: Path, changed: Iterable[str]) -> list[str]:
    """The test files and folders of the changed files, sorted, none of them inside another."""
    house = House(root)
    found = {test for each in changed for test in house.tests_of(each)}
    there = {test for test in found if (root / test).exists()}
    return sorted(test for test in there if not there & {p.as_posix() for p in Path(test).parents})


def changed_since(commit: str, root: Path) -> set[str]:
    commands = (
        ["git", "diff", "--name-only", commit],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    outputs = (
        subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
        for command in commands
    )
    return {line for output in outputs for line in output.splitlines()}


if __name__ == "__main__":
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    found = touched(ROOT, changed_since(commit, ROOT))
    if not found:
        sys.exit("no test is touched")
    print("\n".join(found))  # noqa: T201  what a command is for
