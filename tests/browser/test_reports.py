"""Reports as whoever gets one by mail opens them: from a folder, without a network, on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from scoring.engine.compare.comparison import compute_figures
from scoring.engine.reports.comparison_report import comparison_report
from scoring.engine.reports.run_report import run_report
from scoring.models import Output, Run, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.payloads import MARKUP
from tests.support.run_states import CLOSE, EXACT, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
LONG = "a word and " * 900
JUDGED = {"total": 1, "lines": [{"text": "a" * 70, "price": n} for n in range(9)]}


class Reader:
    """Somebody with a file and no network; `requests` and `said` are what the browser did."""

    def __init__(self, chromium: Browser, folder: Path, width: int = 1280, **more: str) -> None:
        self.context = chromium.new_context(
            viewport={"width": width, "height": 900},
            offline=True,
            **more,  # type: ignore[arg-type]
        )
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.folder = folder

    def open(self, text: str) -> Page:
        path = self.folder / "report.html"
        path.write_text(text, encoding="utf-8")
        self.page.goto(path.as_uri())
        return self.page

    def unfold(self) -> None:
        self.page.locator("details").evaluate_all("all => all.forEach((e) => (e.open = true))")


MakeReader = Callable[..., Reader]


@pytest.fixture
def reader(chromium: Browser, tmp_path: Path) -> Iterator[MakeReader]:
    """Readers, each of whom must have heard nothing and asked for nothing but the file."""
    made: list[Reader] = []

    def make(width: int = 1280, **more: str) -> Reader:
        made.append(Reader(chromium, tmp_path, width, **more))
        return made[-1]

    yield make
    for each in made:
        each.context.close()
        assert each.said == []
        assert [url.partition(":")[0] for url in each.requests] == ["file"]


@pytest.fixture
def texts(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Cases that are short, long, JSON, failed and hostile."""
    cases = [
        {"key": "short", "input": "When?", "expected": "on Monday", "tags": ["billing"]},
        {"key": "long", "input": LONG, "expected": LONG + "Monday" + LONG},
        {"key": "json", "input": {"q": "How much?"}, "expected": JUDGED},
        {"key": "failed", "input": "Why?", "expected": "because"},
        *({"key": f"{n} {text[:60]}", "input": text, "expected": "x"} for n, text in HOSTILE),
    ]
    said = ["on Tuesday", LONG + "Tuesday" + LONG, '{"total": 2}', None]
    outputs = make_outputs(make_dataset(cases), [*said, *(text for _, text in HOSTILE)])
    leaves = ("leaves right", "json_similarity", {})
    return finished_run(outputs, CLOSE, EXACT, leaves, name="2026-w46")


HOSTILE = list(enumerate(MARKUP))


@pytest.fixture
def pair(make_dataset: MakeDataset) -> tuple[Run, Run]:
    """Of 30 cases 20 broke and one was fixed."""
    version = make_dataset(
        [
            {"key": f"q{n}", "input": f"Question {n} {MARKUP[n % len(MARKUP)]}", "tags": ["all"]}
            for n in range(30)
        ]
    )
    old = run_with(version, {"close": [0.9] * 29 + [0.1], "far": [0.9] * 30}, name="w45")
    after = [0.1] * 20 + [0.8] * 10
    new = run_with(version, {"close": after, "far": [0.8] * 30}, name="w46")
    for run, text in ((old, LONG), (new, LONG + "!")):
        Output.objects.filter(output_set=run.output_set).update(text=text)
    return old, new


@pytest.fixture
def files(texts: Run, pair: tuple[Run, Run]) -> dict[str, str]:
    old, new = pair
    figures = compute_figures(old, new)
    return {
        "run": run_report(texts),
        "one": comparison_report(old, [(new, figures)]),
        "several": comparison_report(old, [(new, figures), (new, figures)]),
    }


@pytest.mark.long("axe walks a report of several runs in both schemes")
@pytest.mark.parametrize("name", ["run", pytest.param("one", marks=pytest.mark.slow), "several"])
def test_a_file_is_whole_readable_and_no_wider_than_the_screen(
    files: dict[str, str], reader: MakeReader, is_accessible: Check, name: str
) -> None:
    found = reader(1280)
    page = found.open(files[name])
    is_accessible(page)
    found.unfold()
    page.emulate_media(color_scheme="dark")
    is_accessible(page)
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide), width
    assert page.evaluate("window.ran") is None


def test_the_colours_follow_the_readers_scheme(files: dict[str, str], reader: MakeReader) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (
        reader(color_scheme=scheme).open(files["run"]).evaluate(ground)
        for scheme in ("light", "dark")
    )
    assert light != dark


def test_a_case_is_opened_by_keys_without_a_script(
    files: dict[str, str], reader: MakeReader
) -> None:
    page = reader(java_script_enabled=False).open(files["run"])
    case = page.locator(".report-case").filter(has=page.get_by_role("heading", name="short"))
    expect(case.locator("ins")).to_be_hidden()
    page.keyboard.press("Tab")
    for _ in range(40):
        if case.locator("summary").evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(case.locator("ins")).to_have_text("Tues")


@pytest.mark.parametrize("name", ["run", "one"])
def test_on_paper_every_case_is_open_and_light(
    files: dict[str, str], reader: MakeReader, name: str
) -> None:
    page = reader(680, color_scheme="dark").open(files[name])
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "oklch(1 0 0)"
    heights = "all => all.map((each) => each.querySelector('.output').offsetHeight)"
    seen = page.locator(".report-case").evaluate_all(heights)
    assert len(seen) > 3
    assert all(height > 10 for height in seen)
    heads = page.locator(".report-why thead, main table thead")
    assert heads.first.evaluate("e => getComputedStyle(e).display") == "table-header-group"
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)


@pytest.mark.parametrize("sheet", ["A4", pytest.param("Letter", marks=pytest.mark.slow)])
def test_it_prints_on_both_sheets(files: dict[str, str], reader: MakeReader, sheet: str) -> None:
    printed = reader().open(files["run"]).pdf(format=sheet)
    width, height = {"A4": (594, 841), "Letter": (612, 792)}[sheet]
    boxes = {
        tuple(int(float(part)) for part in box.split())
        for box in printed.decode("latin-1").split("/MediaBox [")[1:]
        for box in [box.partition("]")[0]]
    }
    assert boxes == {(0, 0, width, height)} or boxes == {(0, 0, width + 1, height + 1)}


def test_the_button_on_the_run_page_downloads_the_file(
    page: Page, sign_in: Callable[[User], None], bob: User, texts: Run
) -> None:
    sign_in(bob)
    page.goto(reverse("run", args=[texts.uuid]))
    with page.expect_download() as started:
        Walk(page).follow("HTML report")
    assert started.value.suggested_filename == "answers-2026-w46.html"
    assert "leaves that lost credit" in started.value.path().read_text()


def test_the_button_on_the_compare_page_downloads_the_file(
    page: Page, sign_in: Callable[[User], None], bob: User, pair: tuple[Run, Run]
) -> None:
    sign_in(bob)
    old, new = pair
    address = reverse("compare", args=[old.team.slug])
    page.goto(f"{address}?baseline={old.uuid}&candidate={new.uuid}")
    with page.expect_download() as started:
        Walk(page).follow("HTML report")
    assert started.value.suggested_filename == "answers-w46-compared-with-w45.html"
    assert started.value.path().read_text().startswith("<!DOCTYPE html>")
