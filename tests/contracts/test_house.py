"""What keeps the house easy to find one's way in, and quick to enter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("*.py", "*.html", "*.css", "*.js")


def tracked(*patterns: str) -> list[Path]:
    """The repository's files of these patterns, those not yet committed included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


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


@pytest.mark.alone
def test_check_is_quick_and_imports_nothing_heavy(tmp_path: Path) -> None:
    """Processor time, which is the time it takes where nothing else is going on."""
    seconds: list[float] = []
    while len(seconds) < 12 and min(seconds, default=9.0) > 1.0:
        before = getrusage(RUSAGE_CHILDREN)
        done = run(CHECK, tmp_path)
        after = getrusage(RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        assert done.returncode == 0, done.stderr
    assert min(seconds) <= 1.0, seconds


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
        "from scoring.core.bound import bind\n"
        "from scoring.core.contract import Case\n"
        "(result,) = bind('levenshtein', {}).score([Case('helo', 'hello')])\n"
        "assert result.score == 0.8, result\n"
        "assert 'django' not in sys.modules\n"
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", tracked(*KEPT), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_longer_than_400_lines(path: Path) -> None:
    if "migrations" in path.parts:
        return
    assert len(path.read_text().splitlines()) <= 400


def test_every_environment_variable_is_read_in_one_place_and_documented() -> None:
    spoken = re.compile(r'"((?:EVALSITE|OPENAI)_[A-Z_]+)"')
    read = set(spoken.findall((ROOT / "evalsite/env.py").read_text()))
    told = set(
        re.findall(
            r"^\| `((?:EVALSITE|OPENAI)_[A-Z_]+)` \|",
            (ROOT / "docs/environment.md").read_text(),
            re.MULTILINE,
        )
    )
    assert read == told


def test_only_env_py_reads_our_variables() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in tracked("evalsite/*.py", "scoring/*.py")
        if re.search(r"(environ\b|getenv)[^\n]*(EVALSITE|OPENAI)_", path.read_text())
    }
    assert readers <= {"evalsite/env.py"}


def test_one_module_alone_marks_text_as_safe() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in tracked("templates/*.html", "evalsite/*.py", "scoring/*.py")
        if re.search(r"\|\s*safe\b|mark_safe|SafeString\(|autoescape off|safeseq", path.read_text())
    ]
    assert marked == ["evalsite/safe_html.py"]


def test_the_repository_names_no_machine() -> None:
    home = re.compile(r"/(root|home)/\w|/work/|index-url|files\.pythonhosted|registry\.npmjs")
    naming = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.name not in {"test_house.py", "LICENSE"}
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
