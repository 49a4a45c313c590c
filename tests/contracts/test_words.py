"""Names and documents: what they call things exists, and old names do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

#: Public names whose meaning cannot be guessed, with what to write in their place.
NEVER = {
    "errand": "job",
    "errand_desk": "runner",
    "leave": "enqueue",
    "hold": "lease",
    "lane": "shard scheduler",
    "flight": "shard task",
    "telling": "notify",
    "told": "notify",
    "tell": "notify, report",
    "untold": "ignore_progress",
    "looking": "evaluate",
    "judging": "conditions",
    "handout": "reports",
    "loading": "imports",
    "intake": "writer",
    "storing": "writer",
    "duplicates": "near_duplicates",
    "keeper": "progress writer",
    "placed": "keyed row",
    "placer": "row keyer",
    "twin_of": "identical_version",
    "carve": "split",
    "bound": "configured",
    "boundscorer": "ConfiguredScorer",
    "settle": "resolve_defaults",
    "settled": "resolve_defaults",
    "standalone": "local_services",
    "switchboard": "client pool",
    "caller": "judge client",
    "gate_keeper": "rate limiter",
    "ledger": "reply cache",
    "heard": "on_progress",
    "pinned": "guarded",
    "sealed": "encrypted",
    "apart": "first_difference",
    "abridged": "truncate",
    "sides": "side_by_side",
    "shown": "text_layout",
    "stretch": "block",
    "piece": "span",
    "few_cases": "selective_search",
    "gathered": "collect",
    "judged": "verdicts, evaluate",
    "stand": "cursor",
    "spot": "chart point",
    "said": "feedback, sentence",
    "beside": "baseline output, pair",
    "against": "baseline choice",
    "absent": "missing output",
    "chips": "filter chips",
    "switches": "display options",
    "underway": "job status",
    "needs": "attention",
    "ticked": "bulk actions",
    "show": "render_page",
    "lead_on": "redirect_swap",
    "leave_for": "redirect",
    "granted": "permissions",
    "granted_on": "run permissions",
    "run_life": "lifecycle",
    "glance": "export summary",
    "starter": "suggested suite",
    "starters": "suggested suite",
    "probe": "connection test",
    "foresight": "cost estimate",
    "foreseen": "estimate",
    "asked": "requested",
    "kept": "stored",
    "named": "find",
    "matched": "match",
    "compared": "compare",
    "hands": "actions",
    "witness": "browser log",
    "held_by": "lease_owner",
    "held_until": "lease_expires_at",
    "look_at": "evaluate_at, schedule",
    "look_again": "reschedule",
    "told_at": "notified_at",
    "tell_at": "remind_at",
    "standstill": "stall_reason",
    "may_begin": "can_start",
    "go_on": "run_forever",
    "foreign": "binary, translated",
    "faults": "errors",
    "look": "formatting",
    "bodies": "fields",
}
#: Words that say something as a field of a row or an answer, but nothing as a function or class.
FIELDS = {
    "compared",
    "faults",
    "judged",
    "kept",
    "loading",
    "look",
    "matched",
    "named",
    "shown",
}
#: How constants do not begin: limits are MAX_ and MIN_.
LIMITS = re.compile(r"(MOST|LEAST|FEWEST|LARGEST|SMALLEST|LONGEST)(_|$)")


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            if "migrations" not in path.parts:
                yield path


def defined_names(body: list[ast.stmt]) -> Iterator[str]:
    """Public functions, classes, constants and fields."""
    for node in body:
        names = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        yield from (name for name in names if not name.startswith("_"))


def public_names(path: Path) -> Iterator[str]:
    """The module's own name, and what it and its classes define for others."""
    yield path.stem
    tree = ast.parse(path.read_text())
    yield from defined_names(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (name for name in defined_names(node.body) if name.lower() not in FIELDS)


def test_no_public_name_has_to_be_guessed() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}, write {NEVER[name.lower()]}"
        for path in modules("scoring", "evalsite")
        for name in public_names(path)
        if name.lower() in NEVER
    }
    assert sorted(found) == []


def test_limits_begin_with_max_or_min() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules("scoring", "evalsite")
        for name in public_names(path)
        if LIMITS.match(name)
    }
    assert sorted(found) == []


def rows_of_rooms(top: str) -> dict[str, int]:
    """The rooms of a package, and in which row of its table in the guide each one stands."""
    guide = (ROOT / "docs" / "architecture.md").read_text()
    table = guide.partition(f"| `{top}/` |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name: row for row, cell in enumerate(cells) for name in re.findall(r"`(\w+)/`", cell)}


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("top", ["scoring/core", "scoring/engine"])
def test_rooms_import_none_that_stands_above_them_in_the_guide(top: str) -> None:
    rows = rows_of_rooms(top)
    folders = {path.parent.name for path in (ROOT / top).glob("*/__init__.py")}
    assert folders == set(rows)
    upward = {
        f"{path.relative_to(ROOT)}: {name}"
        for room, row in rows.items()
        for path in modules(f"{top}/{room}")
        for name in imported_modules(path)
        if name.startswith(f"{top.replace('/', '.')}.") and rows.get(name.split(".")[2], row) < row
    }
    assert sorted(upward) == []


#: File names in documents that stand for many files, or for one that is made while the site runs.
NO_FILES = {"_name.jinja", "site.css", "site.js"}


def test_documents_name_files_that_exist() -> None:
    documents = [*ROOT.glob("*.md"), ROOT / "tests" / "README.md", *(ROOT / "docs").rglob("*.md")]
    folders = ("scoring", "evalsite", "templates", "static", "tests", "benchmarks")
    alone = {path.name for folder in folders for path in (ROOT / folder).rglob("*.*")}
    alone |= {path.name for path in ROOT.iterdir()} | NO_FILES
    missing = {
        f"{document.name}: {name}"
        for document in documents
        for name in re.findall(r"`([\w/]+\.(?:py|html|jinja|js|css))`", document.read_text())
        if not (name in alone or (ROOT / name).is_file() or (ROOT / "templates" / name).is_file())
    }
    assert sorted(missing) == []


def test_glossary_words_are_words_of_the_module_that_defines_them() -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$", glossary(), re.MULTILINE)
    assert len(rows) > 30
    strange = {
        (word, path)
        for words, path in rows
        for word in words.split(", ")
        if word.split()[-1] not in (ROOT / path).read_text().lower()
    }
    assert sorted(strange) == []


def glossary() -> str:
    return (ROOT / "docs" / "glossary.md").read_text()
