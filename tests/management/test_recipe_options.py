"""How outputs are to be made: what does not go together, and where the prompt is."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.models import Connection, Generation, OutputSet
from tests.management.commands.test_evaluate import evaluate
from tests.management.commands.test_evaluate_generated import PROMPT, connected, dataset, generate
from tests.stub import Stub

__all__ = ["connected", "dataset"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_prompt_may_be_a_file(connected: Connection, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Größe von {{ input.q }}?\n", encoding="utf-8")
    assert generate(prompt=str(file)).code == 0
    assert Generation.objects.get().template == "Größe von {{ input.q }}?\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--generate", "m"), "--generate needs --prompt"),
        (("--prompt", PROMPT), "--prompt needs --generate MODEL"),
        (("--trials", "2"), "--trials needs --generate MODEL"),
        (("--connection", "main"), "--connection needs --generate MODEL"),
        (("--generate", "m", "--prompt", PROMPT, "--outputs", "a.csv"), "give one of the two"),
        (("--generate", "m", "--prompt", PROMPT, "--map", "key=id"), "--map needs --outputs"),
        (("--generate", "m", "--prompt", "prompt.txt"), "neither a file nor a prompt"),
        (("--generate", "m", "--prompt", "x" * 5_000), "cannot be read"),
        (("--generate", "m", "--prompt", "{{ question }}"), "names no field of a case"),
        (("--generate", "m", "--prompt", PROMPT, "--trials", "0"), "from 1 to 20"),
        (("--generate", " ", "--prompt", PROMPT), "name the model"),
        (("--generate", "m", "--prompt", PROMPT, "--connection", "x"), "it has: main"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_stored(
    connected: Connection, stub: Stub, arguments: tuple[str, ...], says: str
) -> None:
    ended = evaluate("Answers", *arguments)
    assert ended.code == 2
    assert says in ended.err
    assert stub.requests == []
    assert not OutputSet.objects.exists()


def test_a_prompt_file_that_is_no_text_is_refused(connected: Connection, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(b"\xff\xfe{{ input }}")
    ended = generate(prompt=str(file))
    assert (ended.code, "is not UTF-8" in ended.err) == (2, True)


def test_a_long_prompt_need_not_be_a_possible_file_name(connected: Connection) -> None:
    assert generate(prompt=PROMPT + " Think." * 1_000).code == 0
