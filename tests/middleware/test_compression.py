"""Pages are compressed, and their length tells no secret."""

from __future__ import annotations

import gzip
import re

import pytest
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from evalsite.middleware.compression import CompressedPages
from scoring.models import Team
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

PACKED = {"Accept-Encoding": "gzip"}
TOKENS = re.compile(r'name="(?:csrf-token" content|csrfmiddlewaretoken" value)="(\w+)"')
LARGEST = 25_000  # bytes of a run's page


def test_a_page_is_compressed_for_who_can_unpack_it(bobs: Client, team: Team) -> None:
    url = reverse("team_home", args=[team.slug])
    answer = bobs.get(url, headers=PACKED)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"]
    assert b"</html>" in gzip.decompress(answer.content)
    assert "Content-Encoding" not in bobs.get(url).headers


def test_its_length_differs_from_answer_to_answer(bobs: Client, team: Team) -> None:
    """By random bytes, so that guesses beside a secret cannot be told by it."""
    url = reverse("team_home", args=[team.slug])
    assert len({len(bobs.get(url, headers=PACKED).content) for _ in range(8)}) > 1


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Target": "cases"}])
def test_the_csrf_token_is_masked_anew_in_each_answer(
    bobs: Client, make_dataset: MakeDataset, headers: dict[str, str]
) -> None:
    run = run_with(make_dataset([{"key": "q1", "input": "x"}]), {"close": [0.9]})
    url = reverse("run", args=[run.uuid])
    first, second = (set(TOKENS.findall(bobs.get(url, headers=headers).text)) for _ in range(2))
    assert first
    assert first & second == set()


def test_the_page_of_a_run_is_small(bobs: Client, make_dataset: MakeDataset) -> None:
    """With fifty cases of many words under three scorers."""
    words = [f"{'answer to the question about a refund'.swapcase()} {n} " for n in range(60)]
    cases = [{"key": f"case-{n:04}", "input": word * 4} for n, word in enumerate(words)]
    scores = [(n % 10) / 10 for n in range(60)]
    run = run_with(make_dataset(cases), dict.fromkeys(("close", "far", "same"), scores))
    answer = bobs.get(reverse("run", args=[run.uuid]), headers=PACKED)
    assert gzip.decompress(answer.content).count(b"row-link") == 50
    assert len(answer.content) <= LARGEST


def test_a_stream_stays_as_it_is() -> None:
    request = RequestFactory().get("/", headers=PACKED)
    answer = CompressedPages(lambda _: StreamingHttpResponse(["row\n"] * 1000))(request)
    assert isinstance(answer, StreamingHttpResponse)
    assert "Content-Encoding" not in answer.headers
    assert b"".join(answer).count(b"row") == 1000
