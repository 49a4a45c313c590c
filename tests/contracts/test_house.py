"""What keeps the house easy to find one's way in, and quick to enter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import sizes
from tests.support.paths import ROOT, path_of_test

FOLDERS = ("benchmarks", "docs", "evalsite", "scoring", "static", "templates", "tests")


def files_of(*folders: str) -> list[Path]:
    """The project's text files in these folders; no git is asked, so that an archive will do."""
    inside = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path for path in inside if "__pycache__" not in path.parts and path.suffix != ".png"]


def run(script: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    # Compiled once for all, as everywhere but on machines that are told to keep no bytecode.
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(data_dir.parent / "bytecode")}
    environment = {**os.environ, **kept, "EVALSITE_DATA_DIR": str(data_dir)}
    return subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


CHECK = """
import runpy, sys
sys.argv = ["manage.py", "check"]
runpy.run_path("manage.py", run_name="__main__")
heavy = {"numpy", "scipy", "torch", "sentence_transformers", "transformers", "openai", "pandas"}
heavy |= {"django.test", "drf_spectacular.openapi", "drf_spectacular.plumbing"}
heavy &= set(sys.modules)
sys.exit(f"imported {heavy}" if heavy else 0)
"""


@pytest.mark.long("a process of its own imports the whole site")
def test_check_imports_nothing_heavy(tmp_path: Path) -> None:
    done = run(CHECK, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("secret", ["", "fifty characters or more, from the environment itself"])
def test_a_new_data_folder_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("EVALSITE_SECRET_KEY", secret)
    folder = tmp_path / "some" / "where"
    script = (
        f"import os\nos.environ['EVALSITE_DATA_DIR'] = {str(folder)!r}\nimport evalsite.settings"
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    modes = {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.iterdir()]}
    kept = {"encryption_key": 0o600} | ({} if secret else {"secret_key": 0o600})
    assert modes == {"where": 0o700, "spool": 0o700, **kept}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("EVALSITE_SECRET_KEY", "short", "EVALSITE_SECRET_KEY is too weak"),
        ("EVALSITE_ENCRYPTION_KEY", "ab" * 40, "EVALSITE_ENCRYPTION_KEY is too weak"),
        ("OPENAI_API_KEY", "sk-two words", "OPENAI_API_KEY has a space"),
        (
            "OPENAI_BASE_URL",
            "https://b\u00fccher.example",
            "OPENAI_BASE_URL has a space or an unusual",
        ),
    ],
)
def test_a_setting_that_cannot_hold_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVALSITE_DEBUG", "0")
    done = run("import evalsite.settings", tmp_path)
    assert done.returncode != 0
    assert said in done.stderr
    assert value not in done.stderr


def test_the_core_runs_without_django(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from scoring.core.configured import configure_scorer\n"
        "from scoring.core.contract import Case\n"
        "(result,) = configure_scorer('levenshtein', {}).score([Case('helo', 'hello')])\n"
        "assert result.score == 0.8, result\n"
        "assert 'django' not in sys.modules\n"
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_environment_variable_is_read_in_one_place_and_documented() -> None:
    spoken = re.compile(r'"((?:EVALSITE|OPENAI|DATABASE)_[A-Z_]+)"')
    read = set(spoken.findall((ROOT / "evalsite/env.py").read_text()))
    told = set(
        re.findall(
            r"^\| `((?:EVALSITE|OPENAI|DATABASE)_[A-Z_]+)` \|",
            (ROOT / "docs/environment.md").read_text(),
            re.MULTILINE,
        )
    )
    assert read == told


def test_only_env_py_reads_our_variables() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in files_of("evalsite", "scoring")
        if re.search(r"(environ\b|getenv)[^\n]*(EVALSITE|OPENAI|DATABASE)_", path.read_text())
    }
    assert readers <= {"evalsite/env.py"}


def test_one_module_alone_marks_text_as_safe() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in files_of("templates", "evalsite", "scoring")
        if re.search(r"\|\s*safe\b|mark_safe|SafeString\(|autoescape off|safeseq", path.read_text())
    ]
    assert marked == ["evalsite/rendering/safe_html.py"]


def test_the_repository_names_no_machine() -> None:
    home = re.compile(
        r"(?<!\w)/(root|home)/\w|/work/|index-url|files\.pythonhosted|registry\.npmjs"
    )
    naming = [
        str(path.relative_to(ROOT))
        for path in [*files_of(*FOLDERS), *(path for path in ROOT.iterdir() if path.is_file())]
        if path.name not in {"test_house.py", "LICENSE", ".git"}  # a file in a worktree
        and home.search(path.read_text(errors="replace"))
    ]
    assert naming == []


def test_requirements_are_pinned_exactly() -> None:
    for path in ROOT.glob("requirements*.txt"):
        lines = [line for line in path.read_text().splitlines() if line and line[0] not in "#-"]
        assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.]+", line) for line in lines), path.name


def test_the_readme_names_two_commands_that_match_the_requirements() -> None:
    readme = (ROOT / "README.md").read_text()
    venv = "python3 -m venv .venv && .venv/bin/pip install -r "
    assert f"{venv}requirements.txt && .venv/bin/python manage.py start --demo" in readme
    assert f"{venv}requirements-dev.txt && .venv/bin/python -m pytest" in readme


def test_the_report_of_sizes_names_what_is_large_and_nothing_else(tmp_path: Path) -> None:
    room = tmp_path / "scoring" / "engine"
    room.mkdir(parents=True)
    for number in range(sizes.MAX_MODULES):
        (room / f"part_{number}.py").write_text("")
    (room / "part_0.py").write_text("x = 0\n" * sizes.MAX_LINES)
    body = "    pass\n" * (sizes.MAX_FUNCTION_LINES - 1)
    (room / "part_1.py").write_text(f"def work():\n{body}")
    assert list(sizes.report(tmp_path)) == []
    (room / "part_0.py").write_text("x = 0\n" * (sizes.MAX_LINES + 1))
    (room / "part_1.py").write_text(f"def work():\n{body}    pass\n")
    (room / "one_more.py").write_text("")
    assert list(sizes.report(tmp_path)) == [
        f"scoring/engine/part_0.py: {sizes.MAX_LINES + 1} lines",
        f"scoring/engine/part_1.py: work has {sizes.MAX_FUNCTION_LINES + 1} lines",
        f"scoring/engine: {sizes.MAX_MODULES + 1} modules",
    ]


#: Modules that make nothing of their own, besides those of template tags that only register.
UNTESTED = re.compile(r"__init__|urls|apps|wsgi|\w*settings")
#: Modules that are tested with the views of their room, from the request on.
BESIDE_VIEWS = {"forms", "serializers"}


def test_every_module_has_its_test_file() -> None:
    missing = {
        str(module.relative_to(ROOT)): str(wanted.relative_to(ROOT))
        for top in ("scoring", "evalsite")
        for module in sorted((ROOT / top).rglob("*.py"))
        if not (wanted := path_of_test(module)).exists() and not needs_no_test_file(module, wanted)
    }
    told = "\n".join(f"{module} has no {wanted}" for module, wanted in missing.items())
    assert not missing, f"{told}\ntests/README.md says which modules need a test file"


def needs_no_test_file(module: Path, wanted: Path) -> bool:
    if UNTESTED.fullmatch(module.stem) or "migrations" in module.parts:
        return True
    if module.stem in BESIDE_VIEWS:
        return wanted.with_name("test_views.py").exists()
    defines = re.search(r"^\s*(async )?(def|class) ", module.read_text(), re.MULTILINE)
    return module.parent.name == "templatetags" and not defines
