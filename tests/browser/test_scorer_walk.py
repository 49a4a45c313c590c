"""A scorer from its tree to another team's file, walked by keys alone, and by mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Scorer, Suite, Team, User
from tests.browser.actions import HANDS
from tests.browser.actions import Bench as WorkBench
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import EXACT, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ANSWERS: Final = ("Paris", "Pari", "London")  # Paris is expected of each


class Bench(WorkBench):
    """A page with the tree of a scorer."""

    def add(self, parent: int, label: str) -> None:
        """One more scorer under a node of the tree; its name is what is typed next."""
        made = self.page.locator("#tree input[name=node]").count() + 1
        self.hand.choose(self.page.locator(f"#add-{parent}"), label)
        self.hand.press(self.page.locator(f'button[value="add:{parent}"]'))
        expect(self.page.locator(f"#id_n{made}-name")).to_be_focused()

    def tried(self, output: str, arithmetic: str) -> None:
        self.hand.write(self.page.get_by_label("Output", exact=True), output)
        self.hand.write(self.page.get_by_label("Expected", exact=True), "Paris")
        expect(self.page.locator("#tried")).to_contain_text(arithmetic)

    def previewed(self, sentence: str) -> None:
        preview = self.button("Preview")
        self.hand.press(preview)
        expect(self.page.locator("#previewed")).to_contain_text(sentence)
        expect(preview).to_be_focused()


@pytest.fixture(params=HANDS)
def bench(
    request: pytest.FixtureRequest,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
) -> Bench:
    """At the list of scorers of a team that has one run behind it."""
    version = make_dataset([{"key": f"q{n}", "expected": "Paris"} for n in range(len(ANSWERS))])
    finished_run(make_outputs(version, list(ANSWERS)), EXACT)
    sign_in(alice)
    page.goto(reverse("scorers", args=[team.slug]))
    return Bench(page, request.param(page))


def make_the_scorer(bench: Bench) -> None:
    """Half of the score is the very answer, half that it begins right."""
    bench.follow("New scorer", "New scorer: which type")
    bench.follow("Weighted mean", "Weighted mean")
    bench.hand.write(bench.page.locator("#id_name"), "answer")
    bench.add(0, "Exact match")
    bench.hand.write(bench.page.locator("#id_n1-name"), "same")
    bench.add(0, "All of")
    bench.hand.write(bench.page.locator("#id_n2-name"), "shape")
    bench.add(2, "Regular expression")
    bench.hand.write(bench.page.locator("#id_n3-config-pattern"), "^P")
    bench.tried("Pari", "(0 × 1 + 1 × 1) / 2 = 0.5 ≥ 0.5 → pass")  # noqa: RUF001
    bench.previewed("2 pass, 1 fail of 3 cases.")
    bench.hand.press(bench.button("Create scorer"))
    bench.is_at("answer")


def give_one_part_more_weight(bench: Bench) -> None:
    """What that does is seen beforehand and written down afterwards."""
    bench.follow("Edit", "Edit")
    bench.hand.write(bench.page.locator("#id_n1-weight"), "3")
    bench.tried("Pari", "(0 × 3 + 1 × 1) / 4 = 0.25 < 0.5 → fail")  # noqa: RUF001
    bench.previewed("1 of 3 cases would flip: 1 pass → fail.")
    bench.hand.press(bench.button("Save"))
    bench.is_at("answer")
    expect(bench.page.locator("#messages")).to_contain_text("Saved as answer v2.")
    changed = bench.region("Versions").get_by_role("row").filter(has_text="scorers.same.weight")
    expect(changed.get_by_role("cell")).to_have_text(["scorers.same.weight", "1", "3"])
    expect(bench.region("Used by")).to_contain_text("In no suite yet.")


def put_it_into_a_suite(bench: Bench) -> None:
    """With a threshold of the suite's own, which the scorer's page tells."""
    bench.go_to("Scorers")
    bench.follow("New suite", "New suite")
    bench.hand.write(bench.page.locator("#id_name"), "release")
    bench.hand.tick(bench.page.get_by_role("checkbox", name="answer", exact=True))
    bench.hand.write(bench.page.get_by_label("Threshold of answer"), "0.4")
    bench.hand.press(bench.button("Create suite"))
    bench.is_at("release")
    bench.follow("answer", "answer")
    expect(bench.page.get_by_role("main")).to_contain_text("default threshold 0.5")
    expect(bench.region("Used by").get_by_role("listitem").first).to_contain_text("threshold 0.4")
    bench.follow("release", "release")


def exported(bench: Bench) -> str:
    bench.hand.press(bench.page.get_by_text("Export", exact=True))
    with bench.page.expect_download() as started:
        bench.hand.press(bench.link("As YAML"))
    assert started.value.suggested_filename == "release.yaml"
    return started.value.path().read_text()


def import_it_under_other_names(bench: Bench, text: str) -> None:
    bench.go_to("Scorers")
    bench.follow("Import a suite", "Import a suite")
    bench.hand.write(bench.page.locator("#id_text"), text)
    bench.hand.press(bench.button("Preview import"))
    main = bench.page.get_by_role("main")
    expect(main).to_contain_text("Everything is as the file says already.")
    bench.hand.write(bench.page.get_by_label("Name of the suite"), "nightly")
    bench.hand.write(bench.page.get_by_label("Name of scorer 1"), "answer too")
    bench.hand.press(bench.button("Refresh").first)
    expect(main).to_contain_text("made with this config")
    bench.hand.press(bench.button("Import"))
    bench.is_at("nightly")


@pytest.mark.long("one long walk by the tab key alone")
def test_a_scorer_is_built_tried_changed_put_to_use_and_handed_on(
    bench: Bench, complaints: list[str]
) -> None:
    make_the_scorer(bench)
    give_one_part_more_weight(bench)
    put_it_into_a_suite(bench)
    import_it_under_other_names(bench, exported(bench))
    first, copy = (Scorer.objects.get(name=name).current for name in ("answer", "answer too"))
    assert first is not None
    assert copy is not None
    assert (first.number, copy.number) == (2, 1)
    assert (copy.config, copy.fingerprint) == (first.config, first.fingerprint)
    assert [part["weight"] for part in copy.config["scorers"]] == [3, 1]
    entry = Suite.objects.get(name="nightly").entries.get()
    assert (entry.scorer.name, entry.threshold) == ("answer too", 0.4)
    forgive_422(complaints)  # a pattern is asked for before it is typed
