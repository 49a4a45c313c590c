"""A combination built by mouse and by keyboard, a config previewed on a run, a suite imported."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import Scorer, Suite, Team, User
from tests.browser.compare_steps import has_settled
from tests.browser.walk import Walk, forgive_422
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
Accessible = Callable[[Page], None]
FILE = """
name: nightly
scorers:
  - {name: close, type: levenshtein, threshold: 0.8, config: {decimals: 3}}
  - {name: same, type: exact_match}
"""


def parts(name: str) -> list[tuple[str, str]]:
    version = Scorer.objects.get(name=name).current
    assert version is not None
    return [(part["type"], part["name"]) for part in version.config["scorers"]]


def test_a_tree_is_built_by_mouse_and_scored_as_it_grows(
    page: Page,
    sign_in: SignIn,
    is_accessible: Accessible,
    complaints: list[str],
    alice: User,
    team: Team,
) -> None:
    sign_in(alice)
    page.goto(reverse("new_scorer", args=[team.slug, "weighted"]))
    is_accessible(page)
    tried = page.locator("#tried")
    add = page.get_by_role("button", name="Add", exact=True)
    page.locator("#add-0").select_option("exact_match")
    add.click()
    expect(page.locator("#id_n1-name")).to_be_focused()
    page.keyboard.type("same")
    page.locator("#add-0").select_option("all")
    add.click()
    expect(page.locator("#id_n2-name")).to_be_focused()
    page.keyboard.type("shape")
    page.locator("#add-2").select_option("regex")
    page.locator('button[value="add:2"]').click()
    expect(page.locator("#id_n3-name")).to_be_focused()
    expect(tried).to_contain_text("Regular expression, Pattern: This field is required.")
    page.locator("#id_n3-config-pattern").fill("^P")
    page.get_by_label("Output", exact=True).fill("Paris!")
    page.get_by_label("Expected", exact=True).fill("Paris")
    expect(tried).to_contain_text("(0 × 1 + 1 × 1) / 2 = 0.5 ≥ 0.5 → pass")  # noqa: RUF001
    page.locator("#id_n1-weight").fill("3")
    expect(tried).to_contain_text("(0 × 3 + 1 × 1) / 4 = 0.25 < 0.5 → fail")  # noqa: RUF001
    is_accessible(page)
    page.get_by_role("button", name="Remove: same").click()
    expect(page.get_by_role("button", name="Put back: same")).to_be_focused()
    expect(tried).to_contain_text("1 ≥ 0.5 → pass")
    is_accessible(page)
    page.get_by_role("button", name="Put back: same").click()
    expect(page.get_by_role("button", name="Remove: same")).to_be_focused()
    expect(page.locator("#id_n1-weight")).to_have_value("3")
    page.get_by_role("textbox", name="Name", exact=True).first.fill("release check")
    page.get_by_role("button", name="Create scorer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("release check")
    is_accessible(page)
    assert parts("release check") == [("exact_match", "same"), ("all", "shape")]
    forgive_422(complaints)


def test_a_tree_is_changed_by_keys_alone_and_the_focus_stays(
    page: Page, sign_in: SignIn, alice: User, team: Team
) -> None:
    rows = [{"type": "exact_match", "name": name} for name in ("a", "b", "c")]
    scorer = Scorer.objects.define(team, "both", "all", {"scorers": rows})
    sign_in(alice)
    page.goto(reverse("edit_scorer", args=[scorer.uuid]))
    page.get_by_role("button", name="Move up: c").focus()
    for _ in range(3):  # the third one has nowhere to go
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Move up: c")).to_be_focused()
        expect(page.locator(".htmx-request")).to_have_count(0)
    page.get_by_role("button", name="Remove: b").press("Enter")
    expect(page.get_by_role("button", name="Put back: b")).to_be_focused()
    page.locator("#add-0").focus()
    page.keyboard.type("Inc")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#id_n4-name")).to_be_focused()
    page.keyboard.type("d")
    page.keyboard.press("Enter")  # in a field it saves, as anywhere
    expect(page.get_by_role("heading", level=1)).to_have_text("both")
    names = [("exact_match", "c"), ("exact_match", "a"), ("includes", "d")]
    assert parts("both") == names


def test_what_is_typed_while_the_tree_is_redrawn_is_kept(
    page: Page, sign_in: SignIn, alice: User, team: Team
) -> None:
    rows = [{"type": "includes", "name": name} for name in ("a", "b")]
    scorer = Scorer.objects.define(team, "both", "all", {"scorers": rows})
    held: list[Route] = []
    sign_in(alice)
    page.goto(reverse("edit_scorer", args=[scorer.uuid]))
    expect(page.locator("#tried")).to_contain_text("→")

    def hold(route: Route) -> None:
        is_order = "tree=down" in (route.request.post_data or "")
        held.append(route) if is_order else route.continue_()

    page.route("**/edit/", hold)
    with page.expect_request(lambda request: "tree=down" in (request.post_data or "")):
        page.get_by_role("button", name="Move down: a").click()
    page.locator("#id_name").fill("typed meanwhile")
    page.locator("#id_n2-name").fill("second")
    held[0].continue_()
    expect(page.locator("#tree input[name=node]").first).to_have_value("2:0:includes")
    expect(page.locator("#id_name")).to_have_value("typed meanwhile")
    expect(page.locator("#id_n2-name")).to_have_value("second")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("typed meanwhile")
    assert parts("typed meanwhile") == [("includes", "second"), ("includes", "a")]


def test_the_focus_stays_where_somebody_went_while_a_new_node_settles(
    page: Page, sign_in: SignIn, complaints: list[str], alice: User, team: Team
) -> None:
    sign_in(alice)
    page.goto(reverse("new_scorer", args=[team.slug, "weighted"]))
    page.evaluate("htmx.config.defaultSettleDelay = 1000")
    page.locator("#add-0").select_option("regex")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#id_n1-name")).to_be_focused()
    pattern = page.locator("#id_n1-config-pattern")
    pattern.focus()
    page.keyboard.type("^P")
    has_settled(page)
    expect(pattern).to_be_focused()
    page.keyboard.type("a")
    expect(pattern).to_have_value("^Pa")
    expect(page.locator("#id_n1-name")).to_have_value("")
    forgive_422(complaints)  # a pattern is asked for before it is typed


def test_an_error_is_found_from_the_summary(
    page: Page,
    sign_in: SignIn,
    is_accessible: Accessible,
    complaints: list[str],
    alice: User,
    team: Team,
) -> None:
    inner = {"scorers": [{"type": "regex", "config": {"pattern": "x"}}]}
    outer = {"scorers": [{"type": "any", "name": "inner", "config": inner}]}
    scorer = Scorer.objects.define(team, "both", "all", outer)
    sign_in(alice)
    page.goto(reverse("edit_scorer", args=[scorer.uuid]))
    page.get_by_label("Pattern").fill("(")
    page.get_by_role("button", name="Save", exact=True).last.click()
    summary = page.locator("#settings .error-summary")
    expect(summary).to_contain_text("group is not closed")
    is_accessible(page)
    summary.get_by_role("link", name="Regular expression, Pattern").click()
    expect(page.get_by_label("Pattern")).to_have_attribute("aria-invalid", "true")
    assert page.evaluate("location.hash") == "#id_n2-config-pattern"
    forgive_422(complaints)


def test_the_same_config_is_edited_as_json(
    page: Page,
    sign_in: SignIn,
    is_accessible: Accessible,
    complaints: list[str],
    alice: User,
    team: Team,
) -> None:
    sign_in(alice)
    page.goto(reverse("new_scorer", args=[team.slug, "all"]))
    page.locator("#add-0").select_option("regex")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#id_n1-name")).to_be_focused()
    has_settled(page)
    page.get_by_label("Pattern").fill("^x")
    expect(page.get_by_label("Pattern")).to_have_value("^x")
    page.get_by_role("button", name="Edit as JSON").click()
    field = page.get_by_label("Config")
    expect(page.get_by_role("button", name="Edit as fields")).to_be_focused()
    expect(field).to_have_value(re.compile('"pattern": "\\^x"'))
    field.fill('{"scorers": [{"type": "regex", "config": {"pattern": "^P"}}]}')
    expect(page.locator("#tried")).to_contain_text("pattern ^P:")
    is_accessible(page)
    page.get_by_role("button", name="Edit as fields").click()
    expect(page.get_by_label("Pattern")).to_have_value("^P")
    forgive_422(complaints)


def test_without_scripts_the_tree_is_built_by_buttons(
    chromium: Browser, live_server: LiveServer, page: Page, sign_in: SignIn, alice: User, team: Team
) -> None:
    sign_in(alice)
    state = page.context.storage_state()
    plain = chromium.new_page(
        base_url=live_server.url, java_script_enabled=False, storage_state=state
    )
    plain.goto(reverse("new_scorer", args=[team.slug, "any"]))
    plain.get_by_role("textbox", name="Name", exact=True).fill("either")
    for kind in ("exact_match", "levenshtein"):
        plain.locator("#add-0").select_option(kind)
        plain.get_by_role("button", name="Add", exact=True).click()
    plain.get_by_role("button", name="Move up: Levenshtein similarity").click()
    plain.get_by_role("button", name="Create scorer").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("either")
    assert [kind for kind, _ in parts("either")] == ["levenshtein", "exact_match"]
    plain.close()


def test_a_change_is_previewed_on_a_run_and_leads_to_its_cases(
    page: Page,
    sign_in: SignIn,
    is_accessible: Accessible,
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
) -> None:
    version = make_dataset([{"key": f"q-{n}", "expected": "yes"} for n in range(3)])
    finished_run(make_outputs(version, ["yes", "yet", "no"]), ("close", "levenshtein", {}))
    sign_in(alice)
    page.goto(reverse("edit_scorer", args=[Scorer.objects.get().uuid]))
    page.get_by_label("Decimals").fill("0")
    page.get_by_role("button", name="Preview", exact=True).press("Enter")
    previewed = page.locator("#previewed")
    expect(previewed).to_contain_text("1 of 3 cases would flip")
    expect(page.get_by_role("button", name="Preview", exact=True)).to_be_focused()
    is_accessible(page)
    previewed.get_by_text("stay as they are").click()
    is_accessible(page)
    previewed.get_by_role("link", name="q-1").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("q-1")
    assert Scorer.objects.get().versions.count() == 1


def test_a_suite_goes_out_as_a_file_and_comes_in_as_one(
    page: Page,
    sign_in: SignIn,
    is_accessible: Accessible,
    tmp_path: Path,
    alice: User,
    team: Team,
) -> None:
    sign_in(alice)
    path = tmp_path / "nightly.yaml"
    path.write_text(FILE)
    walk = Walk(page)
    page.goto(reverse("scorers", args=[team.slug]))
    walk.follow("Import a suite")
    is_accessible(page)
    page.get_by_label("File", exact=True).set_input_files(path)
    walk.press("Preview import")
    expect(page.get_by_role("row").filter(has_text="levenshtein")).to_contain_text("new")
    is_accessible(page)
    page.get_by_label("Name of scorer 2").fill("equal")
    walk.press("Import")
    expect(page.get_by_role("alert")).to_contain_text("Something has changed since you looked")
    walk.press("Import")
    walk.is_at("nightly")
    is_accessible(page)
    thresholds = {e.scorer.name: e.threshold for e in Suite.objects.get().entries.all()}
    assert thresholds == {"close": 0.8, "equal": 1.0}
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as started:
        page.get_by_role("link", name="As YAML").click()
    assert "name: equal" in started.value.path().read_text()


def test_versions_are_compared_and_a_type_explains_itself(
    page: Page, sign_in: SignIn, is_accessible: Accessible, alice: User, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {})
    for decimals in (3, 4):
        scorer.revise({"decimals": decimals}, by=alice)
    sign_in(alice)
    page.goto(reverse("scorer", args=[scorer.uuid]))
    is_accessible(page)
    page.get_by_label("Changes from").focus()
    page.get_by_label("Changes from").select_option("1")
    changes = page.locator("#changes")
    expect(changes).to_contain_text("From version 1 to 3")
    expect(page.get_by_label("Changes from")).to_be_focused()
    assert "from=1&to=3" in page.url
    is_accessible(page)
    page.get_by_role("link", name="How it scores").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Levenshtein similarity")
    expect(page.get_by_text("= 0.82", exact=False).first).to_be_visible()
    is_accessible(page)
