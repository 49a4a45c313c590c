"""A file goes in through a real browser: chosen, mapped, checked, imported, with and without JS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from evalsite.pages.uploads.sample import sample_csv
from scoring.engine import imports
from scoring.models import DatasetVersion, Upload, User
from tests.support.workbooks import packed, parts_of, row_xml, sheet_xml

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]

CHOOSES_AT_ONCE = """
document.addEventListener("htmx:afterSwap", () => {
  const header = document.querySelector("#upload select[name=header]");
  header.value = "no";
  header.dispatchEvent(new Event("change", { bubbles: true }));
}, { once: true });
"""


@pytest.fixture(autouse=True)
def spool(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = folder


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "evalsite-sample.csv"
    path.write_text(sample_csv(), newline="")
    return path


def choose(page: Page, path: Path) -> Upload:
    page.goto("/teams/support/datasets/upload/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("heading", name="What the columns hold")).to_be_visible()
    return Upload.objects.latest("pk")


def work(upload: Upload) -> None:
    """The worker's next step, done here and now."""
    upload.refresh_from_db()
    step = imports.check_upload if upload.state == "checking" else imports.import_upload
    step(upload)


def test_the_sample_goes_from_the_home_page_to_a_dataset(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    tmp_path: Path,
    let_time_pass: Callable[[], None],
) -> None:
    sign_in(alice)
    page.goto("/")
    is_accessible(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Sample file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    upload = choose(page, path)
    assert page.get_by_label("question", exact=True).input_value() == "input"
    is_accessible(page)

    page.get_by_role("button", name="Check the rows").click()
    expect(page.get_by_text("no worker")).to_be_visible()
    is_accessible(page)
    work(upload)
    let_time_pass()
    expect(page.get_by_role("heading", name="What was found")).to_be_visible()
    is_accessible(page)

    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    work(upload)
    let_time_pass()
    expect(page.get_by_text("All 10 cases are in, as version 1.")).to_be_visible()
    is_accessible(page)
    page.get_by_role("link", name="Score large model").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New run")
    page.go_back()
    page.get_by_role("link", name="Open evalsite-sample").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("evalsite-sample")
    assert page.locator("#cases tbody tr").count() == 10


def test_a_file_with_faults_is_read_with_the_keyboard_alone(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    tmp_path: Path,
    let_time_pass: Callable[[], None],
) -> None:
    sign_in(alice)
    path = tmp_path / "twice.csv"
    path.write_text("id,question\na,1\na,2\nb,3\n")
    upload = choose(page, path)
    page.get_by_role("button", name="Check the rows").press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    work(upload)
    let_time_pass()
    expect(page.get_by_text("duplicate_case")).to_be_visible()
    is_accessible(page)
    page.get_by_label("Leave out the 1 row with problems").press("Space")
    page.get_by_role("button", name="Import").press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    work(upload)
    let_time_pass()
    expect(page.get_by_text("1 row of the file skipped")).to_be_visible()
    assert DatasetVersion.objects.get().case_count == 2


def test_another_sheet_is_shown_as_soon_as_it_is_chosen(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, alice: User, tmp_path: Path
) -> None:
    sign_in(alice)
    sheets = {"One": [("id", "input")], "Two": [("key", "question", "gpt-4o output")]}
    parts = {
        name: sheet_xml("".join(row_xml(*row) for row in [*rows, ("1", "a", "b")[: len(rows[0])]]))
        for name, rows in sheets.items()
    }
    path = tmp_path / "cases.xlsx"
    path.write_bytes(packed(parts_of(parts)))
    choose(page, path)
    expect(page.get_by_text("sheet One of 2")).to_be_visible()
    page.get_by_label("Sheet").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("sheet Two of 2")).to_be_visible()
    expect(page.get_by_label("Sheet")).to_be_focused()
    assert page.get_by_label("gpt-4o output", exact=True).input_value() == "output"
    # A person takes longer than the 20 ms until htmx listens to the new form; a test does not.
    page.wait_for_function("document.querySelector('#upload form')['htmx-internal-data']")
    page.get_by_label("The first row holds").select_option("no")
    expect(page.get_by_text("no header")).to_be_visible()
    expect(page.get_by_label("column 3", exact=True)).to_be_visible()
    is_accessible(page)


def slowly(page: Page, bytes_a_second: int) -> None:
    conditions = {"offline": False, "latency": 0, "downloadThroughput": -1}
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    sent = {"uploadThroughput": bytes_a_second}
    network.send("Network.emulateNetworkConditions", {**conditions, **sent})


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.csv"
    path.write_text("id,input\n" + "".join(f"{n},{'text ' * 20}\n" for n in range(40_000)))
    return path


def test_a_large_file_shows_how_much_of_it_is_sent(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, alice: User, large: Path
) -> None:
    sign_in(alice)
    page.goto("/teams/support/datasets/upload/")
    slowly(page, 2 * 1024**2)
    page.get_by_label("File", exact=True).set_input_files(large)
    page.get_by_role("button", name="Upload and look").press("Enter")
    expect(page.get_by_role("progressbar", name="The file on its way")).to_be_visible()
    expect(page.get_by_text("of 4.1 MB sent")).to_be_visible()
    is_accessible(page)
    expect(page.get_by_role("heading", name="What the columns hold")).to_be_visible()
    assert Upload.objects.get().size_bytes == large.stat().st_size


def test_sending_can_be_stopped(
    page: Page, sign_in: SignIn, alice: User, large: Path, settings: Settings
) -> None:
    sign_in(alice)
    page.goto("/teams/support/datasets/upload/")
    slowly(page, 100 * 1024)
    page.get_by_label("File", exact=True).set_input_files(large)
    page.get_by_role("button", name="Upload and look").click()
    page.get_by_role("button", name="Stop sending").press("Enter")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    expect(page.get_by_role("button", name="Upload and look")).to_be_enabled()
    assert not Upload.objects.exists()


def test_a_file_that_is_refused_says_so_in_place_of_the_form(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    large: Path,
    settings: Settings,
    complaints: list[str],
) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = 1024**2
    sign_in(alice)
    page.goto("/teams/support/datasets/upload/")
    page.get_by_label("File", exact=True).set_input_files(large)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("heading", name="The file is too large")).to_be_visible()
    expect(page.get_by_text("too_large")).to_be_visible()
    is_accessible(page)
    page.get_by_role("link", name="Choose another file").click()
    empty = large.with_name("empty.csv")
    empty.touch()
    page.get_by_label("File", exact=True).set_input_files(empty)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("alert")).to_contain_text("empty_file")
    is_accessible(page)
    assert not Upload.objects.exists()
    complaints[:] = [each for each in complaints if "413" not in each and "422" not in each]


def test_a_choice_made_before_htmx_knows_the_form_holds(
    page: Page, sign_in: SignIn, alice: User, tmp_path: Path
) -> None:
    sign_in(alice)
    path = tmp_path / "bare.csv"
    path.write_text("q1,What is two and two?\nq2,And who is three?\n")
    choose(page, path)
    page.evaluate(CHOOSES_AT_ONCE)
    with page.expect_response(lambda answer: "header=no" in answer.url):
        page.get_by_role("link", name="The first row holds names").click()
    expect(page.get_by_label("column 2", exact=True)).to_be_visible()
    expect(page.get_by_label("The first row holds")).to_have_value("no")


def test_a_file_without_names_goes_in_on_a_phone_in_the_dark_by_keys(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    tmp_path: Path,
    let_time_pass: Callable[[], None],
) -> None:
    sign_in(alice)
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    path = tmp_path / "bare.csv"
    path.write_text("q1,What is two and two?\nq2,And who is three?\n")
    upload = choose(page, path)
    expect(page.get_by_text("The first row looks like values")).to_be_visible()
    is_accessible(page)
    page.get_by_role("link", name="The first row holds names").press("Enter")
    expect(page.get_by_label("q1", exact=True)).to_be_visible()
    page.get_by_label("The first row holds").select_option("no")
    expect(page.get_by_label("column 2", exact=True)).to_be_visible()
    page.get_by_label("column 2", exact=True).select_option("input")
    page.get_by_role("button", name="Check the rows").press("Enter")
    expect(page.get_by_role("heading", name="Waiting for the worker")).to_be_visible()
    Upload.objects.update(rows_a_second=50_000, seconds_left=7, row_count=1, share_read=0.5)
    expect(page.get_by_text("50,000 a second, about 7 s left")).to_be_visible()
    is_accessible(page)
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    work(upload)
    let_time_pass()
    page.get_by_role("button", name="Import").press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    work(upload)
    let_time_pass()
    expect(page.get_by_role("heading", level=1)).to_have_text("bare")
    told = page.get_by_role("paragraph").filter(has_text="bare.csv is imported.")
    expect(told).to_be_visible()
    assert DatasetVersion.objects.get().case_count == 2


def test_a_cancelled_upload_is_gone(page: Page, sign_in: SignIn, alice: User, sample: Path) -> None:
    sign_in(alice)
    upload = choose(page, sample)
    page.get_by_role("button", name="Check the rows").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("This upload was cancelled")).to_be_visible()
    upload.refresh_from_db()
    assert upload.state == "cancelled"


def test_everything_works_without_scripts(
    chromium: Browser, live_server: LiveServer, alice: User, sample: Path
) -> None:
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(alice.email)
    page.get_by_label("Password").fill("a long enough phrase")
    page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()
    upload = choose(page, sample)
    page.get_by_role("button", name="Check the rows").click()
    work(upload)
    page.get_by_role("link", name="Refresh").click()
    page.get_by_role("button", name="Import").click()
    work(upload)
    page.get_by_role("link", name="Refresh").click()
    page.get_by_role("link", name="Open evalsite-sample").click()
    assert page.get_by_role("heading", level=1).inner_text() == "evalsite-sample"
    page.get_by_label("Text in key, input or expected").fill("refund")
    page.get_by_role("button", name="Filter").click()
    assert page.locator("#cases tbody tr").count() == 2
    context.close()
