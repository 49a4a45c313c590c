"""`manage.py score`: what other programs rely on, seen from outside as they see it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any

import pytest
from django.core.management import CommandError, call_command

from tests.support.paths import ROOT
from tests.support.waiting import DEADLINE_SECONDS

LEVENSHTEIN = ("--scorer", "levenshtein")
EXACT = ("--scorer", "exact_match")


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


def started(data_dir: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "score", *words],
        cwd=ROOT,
        env={**os.environ, "EVALSITE_DATA_DIR": str(data_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


Score = Callable[..., tuple[list[dict[str, Any]], str]]


@pytest.fixture
def score(monkeypatch: pytest.MonkeyPatch) -> Score:
    """Runs the command in this process: the results, and the error where `code` is not 0."""

    def scored(*words: str, given: bytes = b"", code: int = 0) -> tuple[list[dict[str, Any]], str]:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given)))
        out = StringIO()
        with pytest.raises(CommandError) if code else nullcontext() as raised:
            call_command("score", *words, stdout=out)
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        if raised is None:
            return lines, ""
        assert raised.value.returncode == code
        return lines, str(raised.value)

    return scored


def jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_each_case_gives_one_line_with_six_keys_in_order_and_needs_no_database(
    data_dir: Path, tmp_path: Path
) -> None:
    case = {"id": "a", "output": "Hello World!", "expected": "Hello World"}
    path = written(tmp_path / "cases.jsonl", jsonl(case))
    strict = ("--config", '{"case_sensitive": true}')
    process = started(data_dir, path, *LEVENSHTEIN, *strict)
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, said) == (0, b"")
    line = json.loads(out)
    assert list(line) == ["id", "status", "score", "verdict", "reason", "metadata"]
    assert line == {
        "id": "a",
        "status": "scored",
        "score": 0.92,
        "verdict": "pass",
        "reason": "",
        "metadata": {"distance": 1, "max_length": 12, "truncated": False},
    }
    assert not list(data_dir.glob("*.sqlite3*"))
    assert not list((data_dir / "spool").iterdir())


def test_unknown_words_exit_2(data_dir: Path) -> None:
    process = started(data_dir, "-", *EXACT, "--format", "xml")
    out, error = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, out, b"--format" in error) == (2, b"", True)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--threshold", "high"], "--threshold"),
        (["--nonsense"], "--nonsense"),
        (["--skip-lines=-1"], "is no number of lines"),
    ],
)
def test_words_that_cannot_be_parsed_are_named(score: Score, words: list[str], error: str) -> None:
    """Called from Python, argparse's errors carry 1."""
    assert error in score("-", *EXACT, *words, code=1)[1]


def test_a_csv_a_json_and_a_jsonl_file_of_the_same_cases_score_alike(
    score: Score, tmp_path: Path
) -> None:
    rows = [
        {"id": "a", "output": "four", "expected": "four"},
        {"id": "b", "output": "fö,ur\n“x”", "expected": "four"},
        {"id": "c", "output": "", "expected": "x"},
    ]
    table = tmp_path / "cases.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["id", "output", "expected"])
        writer.writeheader()
        writer.writerows(rows)
    whole = written(tmp_path / "cases.json", json.dumps(rows).encode())
    lines = written(tmp_path / "cases.jsonl", jsonl(*rows))
    results = [score(path, *LEVENSHTEIN)[0] for path in (str(table), whole, lines)]
    assert results[0] == results[1] == results[2]
    assert [line["id"] for line in results[0]] == ["a", "b", "c"]
    assert results[0][0]["score"] == 1.0


@pytest.mark.parametrize(
    ("case", "status", "code"),
    [
        ({"expected": "x"}, "error", "no_output"),
        ({"output": "x"}, "scored", "expected_missing"),
        ({"output": "x", "expected": None}, "scored", "expected_missing"),
        ({"output": None, "expected": ""}, "scored", None),
        ({"output": "", "expected": ""}, "scored", None),
        ({"output": 4, "expected": "4"}, "scored", None),
        ({"output": 10**20, "expected": str(10**20)}, "scored", None),
        ({"output": [1, "é"], "expected": '[1,"é"]'}, "scored", None),
    ],
)
def test_null_and_empty_are_values_and_a_missing_output_is_an_error(
    score: Score, case: dict[str, Any], status: str, code: str | None
) -> None:
    (line,), _ = score("-", *EXACT, given=jsonl(case))
    assert line["status"] == status
    assert line["metadata"].get("code") == code
    assert line["verdict"] == {"no_output": None, "expected_missing": "fail"}.get(
        code or "", "pass"
    )


def test_a_missing_id_is_the_line_number_blank_lines_counted(score: Score) -> None:
    case = jsonl({"output": "a", "expected": "a"})
    lines, _ = score("-", *EXACT, given=case + b"\n" + case)
    assert [line["id"] for line in lines] == [1, 3]


def test_a_table_without_ids_numbers_its_lines_too(score: Score) -> None:
    given = b"output,expected\na,a\nb,a\n"
    lines, _ = score("-", *EXACT, given=given)
    assert [(line["id"], line["verdict"]) for line in lines] == [(2, "pass"), (3, "fail")]


def test_a_given_id_comes_back_as_it_was(score: Score) -> None:
    ids: list[Any] = ["x", 7, 10**30, "ü\u2028\N{GRINNING FACE}"]
    given = jsonl(*({"id": each, "output": "a", "expected": "a"} for each in ids))
    lines, _ = score("-", *EXACT, given=given)
    assert [line["id"] for line in lines] == ids


def test_a_line_may_carry_its_own_scorer(score: Score) -> None:
    plain = {"output": "ABC", "expected": "abc"}
    own = {**plain, "scorer": {"type": "exact_match", "config": {"case_sensitive": False}}}
    strict = {**plain, "scorer": {"type": "levenshtein", "threshold": 1.0, "config": {}}}
    lines, _ = score("-", *EXACT, given=jsonl(plain, own, plain, strict))
    assert [line["verdict"] for line in lines] == ["fail", "pass", "fail", "pass"]
    lines, _ = score("-", given=jsonl(own, strict))
    assert [line["verdict"] for line in lines] == ["pass", "pass"]


@pytest.mark.parametrize(
    "scorer",
    [
        {"type": "no such type"},
        {"type": "regex"},
        {"type": "regex", "config": {"pattern": "("}},
        {"type": "exact_match", "config": {"nonsense": 1}},
        {"type": "exact_match", "config": []},
        {"type": "exact_match", "config": ""},
        {"type": "exact_match", "threshold": 2},
        {"type": "exact_match", "nonsense": 1},
        {"config": {}},
        "exact_match",
        [],
    ],
    ids=str,
)
def test_one_bad_scorer_is_that_lines_error(score: Score, scorer: object) -> None:
    case = {"output": "a", "expected": "a"}
    lines, _ = score("-", *EXACT, given=jsonl(case, {**case, "scorer": scorer}, case))
    assert [line["status"] for line in lines] == ["scored", "error", "scored"]
    assert lines[1]["metadata"]["code"] == "config_error"
    assert lines[1]["reason"]
    assert lines[1]["score"] is None


@pytest.mark.parametrize(
    "bad",
    [b"nope\n", b'{"output": NaN}\n', b"[1]\n", b'{"a":1,"a":2}\n', b'{"output":1e999}\n', b'{"a'],
    ids=str,
)
def test_a_bad_line_stops_after_the_results_before_it(score: Score, bad: bytes) -> None:
    good = jsonl(*({"id": each, "output": "a", "expected": "a"} for each in range(3)))
    lines, said = score("-", *EXACT, given=good + bad + good, code=2)
    assert [line["id"] for line in lines] == [0, 1, 2]
    assert "Line 4" in said


def test_the_results_before_a_bad_line_are_whole_in_a_large_file(
    score: Score, tmp_path: Path
) -> None:
    good = jsonl(*({"id": each, "output": "a", "expected": "a"} for each in range(2_500)))
    path = written(tmp_path / "cases.jsonl", good + b"{\n")
    lines, said = score(path, *EXACT, code=2)
    assert [line["id"] for line in lines] == list(range(2_500))
    assert "2,501" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scorer", "nope"), "'nope' is not a scorer type"),
        (("--scorer", "regex"), "pattern"),
        ((*EXACT, "--config", "{"), "config"),
        ((*EXACT, "--config", "[]"), "config"),
        ((*EXACT, "--config", '{"nonsense": 1}'), "nonsense"),
        ((*EXACT, "--threshold", "1.5"), "threshold"),
        ((*EXACT, "--threshold", "nan"), "threshold"),
        ((), "names no scorer"),
    ],
    ids=str,
)
def test_bad_use_exits_2_and_says_why(score: Score, words: Iterable[str], said: str) -> None:
    given = jsonl({"output": "a", "expected": "a"})
    lines, told = score("-", *words, given=given, code=2)
    assert lines == []
    assert said in told


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.jsonl", b"", "empty"),
        ("blank.jsonl", b"\n\n", "no rows"),
        ("cases.csv", b"PK\x03\x04rest", "ZIP"),
        (
            "cases.csv",
            b"id,expected\na,b\n",
            "Found: id, expected. Call the one to score “output”.",
        ),
        ("cases.csv", b"output,expected\na\n", "1 cell"),
        ("cases.json", b'{"a": 1}', "list"),
        ("cases.jsonl", b'{"output": "\xff"}\n', "UTF-8"),
    ],
)
def test_a_bad_file_exits_2_and_says_why(
    score: Score, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = written(tmp_path / name, content)
    lines, told = score(path, *EXACT, code=2)
    assert lines == []
    assert said in told


def test_a_file_that_is_not_there_exits_2(score: Score, tmp_path: Path) -> None:
    _, said = score(str(tmp_path / "nowhere.jsonl"), *EXACT, code=2)
    assert "No such file" in said


def test_the_threshold_option_wins_over_the_config(score: Score) -> None:
    given = jsonl({"output": "helo", "expected": "hello"})
    both = (*LEVENSHTEIN, "--config", '{"threshold": 0.9}')
    assert score("-", *both, given=given)[0][0]["verdict"] == "fail"
    lines, _ = score("-", *both, "--threshold", "0.8", given=given)
    assert lines[0]["verdict"] == "pass"


def answer(stream: IO[bytes] | None) -> dict[str, Any]:
    assert stream is not None
    return dict(json.loads(stream.readline()))


def test_an_open_pipe_is_answered_line_by_line(data_dir: Path) -> None:
    process = started(data_dir, "-", *EXACT)
    assert process.stdin is not None
    for each in range(3):
        process.stdin.write(jsonl({"id": each, "output": "a", "expected": "a"}))
        process.stdin.write(b'{"id": "cut')  # the next line has begun, but has not come yet
        process.stdin.flush()
        assert answer(process.stdout)["id"] == each
        process.stdin.write(b'", "output": "a", "expected": "b"}\n')
        process.stdin.flush()
        assert answer(process.stdout)["verdict"] == "fail"
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, out, said) == (0, b"", b"")


def test_a_reader_that_goes_away_ends_it_quietly(data_dir: Path, tmp_path: Path) -> None:
    cases = jsonl(*({"output": "a" * 200, "expected": "b" * 200} for _ in range(5_000)))
    process = started(data_dir, written(tmp_path / "cases.jsonl", cases), *LEVENSHTEIN)
    assert process.stdout is not None
    answer(process.stdout)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(DEADLINE_SECONDS) == 0
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


def test_a_table_for_people_has_a_head_and_a_row_per_case(monkeypatch: pytest.MonkeyPatch) -> None:
    given = jsonl({"id": "a", "output": "x\ny", "expected": "x"}, {"id": "b", "expected": "x"})
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given)))
    out = StringIO()
    call_command("score", "-", *EXACT, "--format", "table", stdout=out)
    head, first, second = out.getvalue().splitlines()
    assert head.split() == ["id", "status", "score", "verdict", "reason"]
    assert first.split()[:4] == ["a", "scored", "0", "fail"]
    assert second.split()[:4] == ["b", "error", "-", "-"]


def test_gsm8k_answers_score_as_their_labels_say(score: Score, tmp_path: Path, facts: Path) -> None:
    """The oracle is the label each solution carries; ten of 5,276 differ by a thousands mark."""
    rows, labels = [], []
    with (facts / "data/gsm8k/example_model_solutions.jsonl").open() as stream:
        for source in map(json.loads, stream):
            wanted = source["ground_truth"].splitlines()[-1]
            for model in ("6b_finetuning", "6b_verification", "175b_finetuning"):
                solution = source[model]["solution"].splitlines()
                rows.append({"output": solution[-1] if solution else "", "expected": wanted})
                labels.append(source[model]["is_correct"])
    path = written(tmp_path / "cases.jsonl", jsonl(*rows))
    lines, _ = score(path, *EXACT)
    assert len(lines) == len(labels)
    wrong = sum(
        (line["verdict"] == "pass") != label for line, label in zip(lines, labels, strict=True)
    )
    assert wrong <= 10


def test_ctrl_c_ends_it_without_a_traceback(data_dir: Path) -> None:
    process = started(data_dir, "-", "--scorer", "exact_match")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(jsonl({"output": "a", "expected": "a"}))
    process.stdin.flush()
    assert process.stdout.readline()  # it waits for the next case now
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, said) == (130, b"")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (b"Answers of May\nid,output,expected\na,x,x\n", ["--skip-lines=1"]),
        (b"# a\n\n# b\nid;output;expected\na;x;x\n", ["--skip-lines=3", "--delimiter=semicolon"]),
        (b"id||output||expected\na||x||x\n", ["--delimiter=||"]),
        ("id,output,expected\na,\u00e9,\u00e9\n".encode("cp1252"), ["--encoding=cp1252"]),
        (b"id,output,expected\na,'x,y','x,y'\n", ["--quote=single"]),
    ],
)
def test_a_file_is_read_as_the_options_say(score: Score, given: bytes, options: list[str]) -> None:
    """As with `import`; by itself each would be read otherwise or refused."""
    (found,), _ = score("-", *EXACT, *options, given=given)
    assert (found["id"], found["score"]) == ("a", 1.0)


def test_how_the_cells_of_a_table_are_understood_is_told_beside_the_results(
    score: Score, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        b"output,expected,references,tags\n"
        b"a,,a; b,\"['x', 'y']\"\n"
        b"b,c,B; C,\n"
        b'b,c,"Hold it for long; do not let it go",\n'
    )
    found, _ = score("-", "--scorer", "includes", given=rows)
    assert len(found) == 3
    assert capsys.readouterr().err.splitlines() == [
        "References are split at semicolons.",
        "Written as Python writes them, and read: 1 cell of tags, as up to 2 items.",
        "Empty cells: 1 of expected and 2 of tags are no value.",
    ]
