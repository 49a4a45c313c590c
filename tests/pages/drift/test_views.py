"""The drift pages: lines of a dataset, and the standings of a team."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from evalsite.pages.drift.views import MAX_CHARTS
from evalsite.templatetags.charts import length_share
from scoring.engine.drift import measure_series
from scoring.models import Baseline, DatasetVersion, Run, RunStep, Team, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.html import on_one_line
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
MAX_QUERIES = 17
STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}", "tags": ["billing"]} for number in range(4)])


def weeks(version: DatasetVersion, means: list[float], **fields: object) -> list[Run]:
    return [
        run_in_week(version, week, mean, "pppp", **fields)  # type: ignore[arg-type]
        for week, mean in enumerate(means)
    ]


def url_of(version: DatasetVersion, query: str = "") -> str:
    return reverse("dataset_drift", args=[version.dataset.uuid]) + query


@pytest.fixture
def page_of(browser_of: BrowserOf, bob: User) -> Callable[..., str]:
    def read(version: DatasetVersion, query: str = "") -> str:
        answer = browser_of(bob).get(url_of(version, query))
        assert answer.status_code == 200
        return on_one_line(answer.content.decode())

    return read


def headings(html: str) -> list[str]:
    return re.findall(
        r'<h2 id="line-\d+">(.*?)</h2>\s*<span class="muted" id="series-\d+">series (\w+)', html
    )


# Which lines are shown.


def test_every_line_of_the_dataset_is_shown_at_first(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    weeks(version, [0.8], scorers=both)
    weeks(version, [0.8], scorers=both[:1], series="b")
    assert headings(page_of(version)) == [("close", "a"), ("same", "a"), ("close", "b")]


def test_the_address_names_scorer_and_series(
    version: DatasetVersion, page_of: Callable[..., str], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, list[tuple[str, str]]]] = [
        ("?scorer=close", [("close", "a"), ("close", "b"), ("close", "c")]),
        ("?series=b", [("close", "b"), ("same", "b")]),
        ("?scorer=same&series=a&series=c", [("same", "a"), ("same", "c")]),
        ("?scorer=&series=c", [("close", "c"), ("same", "c")]),
    ]
    for query, shown in cases:
        with subtests.test(query=query, shown=shown), undone():
            both = [scorer_of(version, "close"), scorer_of(version, "same")]
            for series in "abc":
                weeks(version, [0.8], scorers=both, series=series)
            html = page_of(version, query)
            assert headings(html) == shown
            for name in re.findall(r"series=(\w)", query):
                assert re.search(
                    rf'<input type="checkbox" name="series" value="{name}"[^>]* checked', html
                )


def test_a_line_that_is_not_there_is_said_to_be_none(
    version: DatasetVersion, page_of: Callable[..., str], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["?scorer=nobody", "?series=nowhere", "?series=a&series=x"]
    for query in cases:
        with subtests.test(query=query), undone():
            weeks(version, [0.8])
            html = page_of(version, query)
            assert headings(html) == []
            assert "No such line" in html
            assert f'href="{url_of(version)}"' in html


def test_only_so_many_lines_are_drawn_and_the_page_says_so(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    weeks(version, [0.8], scorers=[scorer_of(version, name) for name in "abcdef"])
    html = page_of(version)
    assert len(headings(html)) == MAX_CHARTS
    assert f"{MAX_CHARTS} of 6 lines are drawn. Choose a scorer to see others." in html


def test_a_dataset_without_runs_says_what_will_be_here(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    assert "No finished runs yet" in page_of(version)


def test_few_runs_have_points_but_no_limits(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    weeks(version, STEADY[:7])
    html = page_of(version)
    assert html.count("data-drift-mark=") == 7
    assert "Not enough runs for control limits: 7 runs, 8 are needed." in html
    assert "drift-limit" not in html
    run_in_week(version, 8, 0.8, "pppp")
    assert "drift-limit" in page_of(version)


# What a chart says and where it leads.


def test_each_mark_leads_to_its_run_and_each_step_to_the_comparison(
    team: Team, version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    runs = weeks(version, [0.8, 0.7])
    html = page_of(version)
    marks = re.findall(r'<a href="([^"]+)" class="drift-mark', html)
    assert marks == [reverse("run", args=[run.uuid]) for run in runs]
    query = f"?baseline={runs[0].uuid}&amp;candidate={runs[1].uuid}"
    compare = reverse("compare", args=[team.slug]) + query
    assert re.findall(r'<a href="([^"]+)" class="drift-(?:step|flips)', html) == [compare] * 2
    assert html.count(f'href="{compare}"') == 3  # and once in the table


def test_flips_are_told_in_the_bars_and_in_the_table(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    run_in_week(version, 1, 0.5, "ppff")
    run_in_week(version, 2, 0.6, "fppp")
    html = page_of(version)
    assert 'aria-label="Compare w2 against the run before: 2 fixed, 1 broke, of 4"' in html
    row = html[html.index("<tbody>") :]
    assert re.findall(r'data-label="(?:fixed|broke)">([^<]+)<', row) == ["2", "1", "–", "–"]  # noqa: RUF001


def test_a_table_tells_the_scorers_flips_from_those_over_all(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    runs = [run_in_week(version, 1, 0.5, "ppff"), run_in_week(version, 2, 0.5, "ffpp")]
    html = page_of(version)
    assert "cases whose verdict by close flipped" in html
    assert "by the verdicts of close alone" in html
    assert "Over all scorers" not in html
    for run in runs:
        run.verdicts.update(verdict=1)
    RunStep.objects.all().delete()
    html = page_of(version)
    assert "Over all scorers" in html
    row = html[html.index("<tbody>") : html.index("</tr>", html.index("<tbody>"))]
    assert re.findall(r'data-label="(?:fixed|broke)">([^<]+)<', row) == ["2", "2"]
    assert '<td class="num cell-extra"> 0 / 0 </td>' in row


def test_a_mark_says_the_runs_figures(version: DatasetVersion, page_of: Callable[..., str]) -> None:
    runs = weeks(version, [*STEADY, 0.3])
    Baseline.objects.pin(runs[0], by=None)
    html = page_of(version)
    last, first = (
        re.findall(rf'aria-label="({name}, [^"]+: mean [^"]+)"', html)[0] for name in ("w8", "w0")
    )
    assert last.startswith("w8, 2 Mar 2015: mean 0.300 [")
    assert "n = 4 · 25.0" in last
    assert last.endswith("· similarity 1.00 · level decreased 0.810 → 0.300")
    assert first.endswith("· baseline")
    assert "tag-baseline" in html
    assert "The level decreased with w8: from 0.810 to 0.300 (p &lt; 0.001)." in html


def test_breaks_and_changed_thresholds_are_drawn_and_named(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    run_in_week(version, 1)
    scorer_of(version).revise({"case_sensitive": True}, by=None)
    run_in_week(version, 2)
    run_in_week(version, 3, threshold=0.9)
    html = page_of(version)
    assert html.count('class="drift-break"') == 2  # one of them explains it below
    assert html.count("drift-break-light") == 1
    assert "<td>scorer version 1 → 2</td>" in html
    assert "<td>threshold 0.7 → 0.9</td>" in html


def test_a_run_without_a_mean_is_in_the_table_and_has_no_mark(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    run_in_week(version, 1, 0.8, "pppp")
    run_in_week(version, 2, None, "eeee")
    html = page_of(version)
    assert html.count("data-drift-mark=") == 1
    assert '0 <span class="muted">of 4</span>' in html


def test_names_from_outside_are_text(version: DatasetVersion, page_of: Callable[..., str]) -> None:
    payload = '"><img src=x onerror="alert(1)">'
    run_in_week(version, 1, series=payload, name=payload)
    assert "<img src=x" not in page_of(version)


@pytest.mark.parametrize("count", [2, 12])
def test_the_page_costs_the_same_however_many_runs_there_are(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    weeks(version, [0.8] * count, scorers=[scorer_of(version, name) for name in "xyz"])
    measure_series(version.dataset, "a")
    browser = browser_of(bob)
    with django_assert_max_num_queries(MAX_QUERIES):
        html = browser.get(url_of(version)).content.decode()
    assert html.count("data-drift-mark=") == 3 * count


# Where else drift is shown.


@pytest.mark.parametrize("name", ["dataset", "dataset_runs"])
def test_the_datasets_page_shows_each_series_and_leads_to_it(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, name: str
) -> None:
    url = reverse(name, args=[version.dataset.uuid])
    assert "drift-panel" not in browser_of(bob).get(url).text
    weeks(version, [*STEADY, 0.3], series="falling")
    for number in range(3):
        run_in_week(version, 0, letters="ppff", series=f"calm{number}")
    measure_series(version.dataset, "falling")
    html = on_one_line(browser_of(bob).get(url).text)
    panel = html[html.index("drift-panel") : html.index('<nav class="tabs"')]
    assert re.findall(r'<a href="([^"]+)"', panel) == [
        *(url_of(version, f"?series={series}") for series in ("falling", "calm0", "calm1")),
        url_of(version),
    ]
    assert "close decreased with w8: 0.810 → 0.300." in panel
    assert panel.count("tag-drifts") == 1
    assert "of 4 cases pass in w0" in panel
    assert "All 4 series" in panel


def test_beside_many_rows_each_line_leads_to_its_own_table(
    version: DatasetVersion, page_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalsite.pages.drift.views.MAX_ROWS", 9)
    weeks(version, [0.8] * 5, scorers=[scorer_of(version, name) for name in "xy"])
    html = page_of(version)
    assert "<table" not in html
    assert re.findall(r'href="(\?[^"]+)"[^>]*>This line alone', html) == [
        "?scorer=x&amp;series=a",
        "?scorer=y&amp;series=a",
    ]
    assert page_of(version, "?scorer=x&series=a").count("<tr data-place=") == 5


def test_scorers_are_offered_in_the_order_of_the_suite(
    version: DatasetVersion, page_of: Callable[..., str]
) -> None:
    run_in_week(version, 1, scorers=[scorer_of(version, "zeal")], position=0)
    run_in_week(version, 2, scorers=[scorer_of(version, "ardour")], position=1)
    options = re.findall(r"<option[^>]*>([^<]+)<", page_of(version))
    assert options == ["all scorers", "zeal", "ardour"]


# The team's standings.


def team_page(browser: Client, team: Team) -> str:
    return browser.get(reverse("team_drift", args=[team.slug])).content.decode()


def test_a_team_sees_the_series_that_drifts_first_and_what_is_said_of_it(
    browser_of: BrowserOf, bob: User, team: Team, version: DatasetVersion
) -> None:
    weeks(version, STEADY, series="calm")
    weeks(version, [*STEADY, 0.3], series="falling one")
    run_in_week(version, 0, series="new")
    assert "Not measured yet." in team_page(browser_of(bob), team)
    for series in ("calm", "falling one", "new"):
        measure_series(version.dataset, series)
    html = team_page(browser_of(bob), team)
    links = re.findall(r'class="row-link" href="([^"]+)"', html)
    queries = ["?series=falling+one", "?series=calm", "?series=new"]
    assert links == [url_of(version, query) for query in queries]
    assert "close decreased with w8: 0.810 → 0.300." in html
    assert html.count("tag-drifts") == 1
    assert "Not enough runs: 1 of 2." in html
    assert html.count("No significant change.") == 1


def test_after_a_change_of_version_the_runs_are_counted_anew(
    browser_of: BrowserOf, bob: User, team: Team, version: DatasetVersion
) -> None:
    weeks(version, STEADY)
    measure_series(version.dataset, "a")
    assert "No significant change." in team_page(browser_of(bob), team)
    scorer_of(version).revise({"case_sensitive": True}, by=None)
    run_in_week(version, 9)
    said = "Not enough runs since a scorer or the dataset changed: 1 of 2."
    assert said in team_page(browser_of(bob), team)


def test_a_team_without_runs_is_told_how_to_get_some(
    browser_of: BrowserOf, bob: User, team: Team
) -> None:
    assert "No finished runs yet" in team_page(browser_of(bob), team)


def test_the_bar_leads_to_drift_and_marks_it(browser_of: BrowserOf, bob: User, team: Team) -> None:
    link = f'<a href="{reverse("team_drift", args=[team.slug])}"'
    assert link + ' aria-current="true">Drift</a>' in team_page(browser_of(bob), team)
    assert link + ">Drift</a>" in browser_of(bob).get(reverse("team_home", args=[team.slug])).text


@pytest.mark.parametrize(
    ("length", "whole", "text"),
    [(24, 96, "25%"), (0, 96, "0%"), (1, 3, "33.333%"), (96, 96, "100%"), (5, 0, "0%")],
)
def test_a_length_is_a_share_of_the_axis(length: float, whole: float, text: str) -> None:
    assert length_share(length, whole) == text


# A part of a long line.


@pytest.fixture
def long(version: DatasetVersion, monkeypatch: pytest.MonkeyPatch) -> DatasetVersion:
    """Twelve runs, of which a page shows five."""
    weeks(version, [*STEADY[:3], 0.3, *STEADY])
    measure_series(version.dataset, "a")
    monkeypatch.setattr("evalsite.pages.drift.views.MAX_RUNS", 5)
    return version


def rows_of(html: str) -> list[str]:
    """The names in the table, newest first."""
    return re.findall(r'<td class="cell-title"> <a [^>]*>(\w+)</a>', html)


def links_of(html: str) -> dict[str, str]:
    """Addresses of the parts before and after the one that is shown."""
    found = re.findall(r'<a class="button" href="([^"]+)" rel="(prev|next)"', html)
    return {rel: unescape(url) for url, rel in found}


def test_of_a_long_line_every_run_is_reached_part_by_part(
    long: DatasetVersion, page_of: Callable[..., str]
) -> None:
    html, seen = page_of(long), list[str]()
    while True:
        names = rows_of(html)
        assert len(re.findall("data-drift-mark", html)) == len(names)
        seen += [name for name in names if name not in seen]
        if "prev" not in links_of(html):
            break
        html = page_of(long, links_of(html)["prev"])
    assert seen == [f"w{week}" for week in range(11, -1, -1)]
    assert "Runs 1 to 2 of 12 are shown below" in html
    html = page_of(long, links_of(html)["next"])
    assert rows_of(html) == ["w6", "w5", "w4", "w3", "w2"]
    assert rows_of(page_of(long, links_of(html)["next"])) == [f"w{n}" for n in range(11, 6, -1)]


def test_an_address_that_names_no_run_of_the_line_shows_its_newest(
    long: DatasetVersion, page_of: Callable[..., str], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "nonsense", "01a205b4-6629-763d-9256-42914700bea2"]
    for until in cases:
        with subtests.test(until=until), undone():
            assert rows_of(page_of(long, f"?until={until}"))[0] == "w11"


def test_each_part_says_of_the_line_what_is_said_of_all_its_runs(
    long: DatasetVersion, page_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [page_of(long), page_of(long, links_of(page_of(long))["prev"])]
    monkeypatch.setattr("evalsite.pages.drift.views.MAX_RUNS", 52)
    whole = page_of(long)
    assert "are shown below" not in whole
    assert [said(part) for part in parts] == [said(whole)] * 2
    assert "w3" in said(whole)


def said(html: str) -> str:
    found = re.search(r'<ul class="findings">(.*?)</ul>', html, re.DOTALL)
    assert found
    return found[1]
