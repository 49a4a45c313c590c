"""Datasets: who sees them, what their pages show, and what a page costs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from evalsite.pages.web.keyset import PAGE_SIZE
from evalsite.templatetags.values import OPENING, opening
from scoring.models import Case, Dataset, DatasetVersion, Run, RunState, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.html import on_one_line
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
TABS = ("dataset", "dataset_versions", "dataset_outputs", "dataset_runs")
MAX_QUERIES = 16

CASES = [
    {"key": "refund", "input": "How long is a refund?", "expected": "5 days", "tags": ["billing"]},
    {"key": "lock", "input": {"role": "user"}, "expected": None, "tags": ["a&b", "account"]},
    {"key": "free", "input": "Say <b>hello</b>\n\tthere", "references": ["hello", "hi"]},
    {"key": "empty", "input": "", "expected": "", "metadata": {"source": "chat", "n": 3}},
]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(CASES)


@pytest.fixture
def many(make_dataset: MakeDataset) -> DatasetVersion:
    """120 cases: two pages and a half."""
    return make_dataset([{"key": f"case-{n}", "input": f"question {n}"} for n in range(1, 121)])


def every_url(dataset: Dataset) -> list[str]:
    tabs = [reverse(name, args=[dataset.uuid]) for name in TABS]
    case = reverse("dataset_case", args=[dataset.uuid, 1])
    return [reverse("datasets", args=[dataset.team.slug]), *tabs, case]


def keys(html: str) -> list[str]:
    """The keys of the cases listed, in order."""
    return [part.split("<")[0] for part in html.split('<span class="id">')[1:]]


def test_only_editors_see_what_changes_things(
    browser_of: BrowserOf,
    alice: User,
    bob: User,
    version: DatasetVersion,
    make_outputs: MakeOutputs,
) -> None:
    make_outputs(version, ["a", "b", "c", "d"])
    uploads, run = (
        reverse("new_upload", args=["support"]),
        reverse("new_run", args=[version.dataset.uuid]),
    )
    for url in every_url(version.dataset)[:-1]:
        read, edited = (browser_of(user).get(url).content.decode() for user in (bob, alice))
        assert uploads not in read, url
        assert run not in read, url
        assert uploads in edited, url
    assert run in edited


def test_a_dataset_without_a_version_says_that_it_is_loading(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    dataset = Dataset.objects.create(team=team, name="Half a file")
    DatasetVersion.with_loading.create(dataset=dataset)
    browser = browser_of(alice)
    assert "Half a file" not in browser.get(reverse("datasets", args=[team.slug])).content.decode()
    for name in TABS:
        html = browser.get(reverse(name, args=[dataset.uuid])).content.decode()
        assert "still loading" in html
    assert browser.get(reverse("dataset_case", args=[dataset.uuid, 1])).status_code == 404


def test_cases_come_in_the_order_of_the_file_a_page_at_a_time(
    browser_of: BrowserOf, bob: User, many: DatasetVersion
) -> None:
    browser, start = browser_of(bob), reverse("dataset", args=[many.dataset.uuid])
    seen, url = [], start
    while url:
        page = browser.get(url).context["page"]
        seen.append([case.position for case in page.rows])
        url = page.next and start + page.next
    assert seen == [list(range(1, 51)), list(range(51, 101)), list(range(101, 121))]
    back = browser.get(start + page.previous).context["page"]
    assert [case.position for case in back.rows] == seen[1]
    first = browser.get(start + back.previous).context["page"]
    assert [case.position for case in first.rows] == seen[0]
    assert first.previous is None


def test_the_address_says_which_cases_are_shown(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, list[str]]] = [
        ("", ["refund", "lock", "free", "empty"]),
        ("?q=REFUND", ["refund"]),
        ("?q=hello%3C/b", ["free"]),
        ("?tag=account", ["lock"]),
        ("?tag=a%26b", ["lock"]),
        ("?q=refund&tag=account", []),
        ("?q=" + "x" * 201, []),
        ("?q=%00", []),
        ("?after=2", ["free", "empty"]),
        ("?before=3", ["refund", "lock"]),
        ("?before=1", []),
        ("?after=abc&before=-4", ["refund", "lock", "free", "empty"]),
        ("?after=99999999999999999999999", ["refund", "lock", "free", "empty"]),
    ]
    for query, found in cases:
        with subtests.test(query=query, found=found), undone():
            url = reverse("dataset", args=[version.dataset.uuid]) + query
            answer = browser_of(bob).get(url)
            assert keys(answer.content.decode()) == found


def test_htmx_gets_the_cases_alone(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    headers = {"HX-Request": "true", "HX-Target": "cases"}
    url = reverse("dataset", args=[version.dataset.uuid])
    html = browser_of(bob).get(url, {"q": "refund"}, headers=headers).content.decode()
    assert html.lstrip().startswith('<div id="cases"')
    assert "<html" not in html
    assert keys(html) == ["refund"]


def test_an_older_version_keeps_its_cases_and_says_that_it_is_old(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    make_dataset([{"key": "only", "input": "new"}])
    browser, url = browser_of(bob), reverse("dataset", args=[version.dataset.uuid])
    assert keys(browser.get(url).content.decode()) == ["only"]
    old = browser.get(f"{url}?version=1&q=refund").content.decode()
    assert keys(old) == ["refund"]
    assert "an older one" in old
    assert f"{url}cases/1/?q=refund&amp;version=1" in old


def test_a_version_that_is_not_there_is_404(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["3", "0", "-1", "x", "1.5", "99999999999"]
    for number in cases:
        with subtests.test(number=number), undone():
            url = reverse("dataset", args=[version.dataset.uuid])
            assert browser_of(bob).get(url, {"version": number}).status_code == 404


def test_a_case_shows_its_values_as_they_are(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    browser = browser_of(bob)
    urls = [reverse("dataset_case", args=[version.dataset.uuid, n]) for n in range(1, 5)]
    refund, lock, free, empty = (browser.get(url).content.decode() for url in urls)
    assert "How long is a refund?" in refund
    assert "&quot;role&quot;: &quot;user&quot;" in lock
    assert ">null</div>" in lock
    assert "Say &lt;b&gt;hello&lt;/b&gt;\n\tthere" in free
    assert "nothing is expected" in free
    assert "an empty text" in empty
    assert '<dt>source</dt> <dd class="kept">chat</dd>' in on_one_line(empty)


def test_what_cannot_be_seen_in_a_case_is_named(
    browser_of: BrowserOf, alice: User, make_dataset: MakeDataset
) -> None:
    hidden = "a\u200bb\u202ec"
    case = {"key": hidden, "input": hidden, "expected": hidden, "tags": [hidden]}
    version = make_dataset([case | {"references": [hidden], "metadata": {hidden: hidden}}])
    browser, dataset = browser_of(alice), version.dataset.uuid
    one = browser.get(reverse("dataset_case", args=[dataset, 1])).text
    table = browser.get(reverse("dataset", args=[dataset])).text
    for page, count in ((one, 7), (table, 4)):
        assert page.count("U+202E right-to-left override") == count
        assert page.count("U+200B zero width space") == count
    assert "\u202e" not in table
    assert one.count("\u202e") == one.count("<title>a\u200bb\u202ec")


def test_a_long_text_of_a_case_is_cut_and_its_whole_is_one_link_away(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["input", "expected", "reference-2", "metadata"]
    for name in cases:
        with subtests.test(name=name), undone():
            long = "on Monday " * 100_000
            case = {"input": long, "expected": long, "references": ["short", long]}
            version = make_dataset([case | {"metadata": {"source": long}}])
            browser = browser_of(bob)
            url = reverse("dataset_case", args=[version.dataset.uuid, 1])
            page = browser.get(url)
            assert len(page.content) < 150_000
            assert page.text.count("980,000 more characters are not shown") == 3
            assert page.text.count("Open all metadata") == 1
            address = f"?whole={name}&version=1"
            assert f'href="{escape(address)}"' in page.text
            whole = browser.get(url + address)
            assert (json.loads(whole.text)["source"] if name == "metadata" else whole.text) == long
            assert whole["Content-Type"] == "text/plain; charset=utf-8"


def test_the_whole_of_what_a_case_lacks_is_404(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["expected", "reference-1", "metadata", "output", "key"]
    for name in cases:
        with subtests.test(name=name), undone():
            version = make_dataset([{"input": "Anything?"}])
            url = reverse("dataset_case", args=[version.dataset.uuid, 1])
            assert browser_of(bob).get(url, {"whole": name}).status_code == 404


def test_neighbours_follow_the_filter(
    browser_of: BrowserOf, bob: User, many: DatasetVersion
) -> None:
    url = reverse("dataset_case", args=[many.dataset.uuid, 12])
    found = browser_of(bob).get(url, {"q": "question 1"}).context
    around = Case.objects.filter(position__in=[11, 13]).order_by("position")
    assert [found["previous"], found["next"]] == list(around)
    last = browser_of(bob).get(url, {"q": "question 12"}).context
    assert (last["previous"], last["next"].position) == (None, 120)


def test_a_case_that_is_not_there_is_404(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[int] = [0, 5, 2**40]
    for position in cases:
        with subtests.test(position=position), undone():
            url = reverse("dataset_case", args=[version.dataset.uuid, position])
            assert browser_of(bob).get(url).status_code == 404


@pytest.mark.parametrize("count", [1, PAGE_SIZE])
def test_a_page_costs_the_same_however_many_rows_it_has(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    version = make_dataset([{"input": str(n)} for n in range(count)])
    for n in range(count):
        outputs = make_outputs(version, ["x"] * count, series=f"model {n}")
        Run.objects.create(team=team, output_set=outputs, name=f"run {n}", state=RunState.FINISHED)
        make_dataset([{"input": "other"}], name=f"other {n}")
    browser = browser_of(alice)
    for url in every_url(version.dataset):
        with django_assert_max_num_queries(MAX_QUERIES):
            assert browser.get(url).status_code == 200


def test_texts_from_outside_cannot_ask_htmx_for_anything(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset
) -> None:
    payload = '<img src=x onerror="alert(1)" hx-get="/">'
    row = {"key": payload, "input": payload, "expected": payload, "tags": [payload]}
    version = make_dataset([row | {"metadata": {payload: payload}, "references": [payload]}])
    for url in every_url(version.dataset):
        assert "<img src=x" not in browser_of(bob).get(url).content.decode(), url


def test_a_row_shows_the_opening_of_a_value() -> None:
    assert opening("x" * (OPENING + 1)) == "x" * OPENING + "…"
    assert opening([1, "two"]) == '[1, "two"]'
