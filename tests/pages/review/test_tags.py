"""The team's list of failure tags."""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

from django.test import Client
from django.urls import reverse

from evalsite.pages.review.forms import FailureTagForm
from scoring.models import AuditEntry, FailureTag, Review, ReviewQueue, Team, User


def test_editors_add_and_remove_and_reviewers_read(
    browser: Client, ritas: Client, team: Team
) -> None:
    url = reverse("failure_tags", args=[team.slug])
    assert "An editor adds them." in ritas.get(url).text
    browser.post(url, {"name": "tone", "help_text": "Too rude."})
    page = ritas.get(url).text
    assert "Too rude." in page
    assert "Add tag" not in page
    assert ritas.post(url, {"name": "x"}).status_code == 403
    browser.post(reverse("remove_failure_tag", args=[team.slug]), {"name": "tone"})
    assert not FailureTag.objects.exists()


def test_a_review_keeps_a_tag_that_is_removed(
    browser: Client, ritas: Client, rita: User, team: Team, queue: ReviewQueue
) -> None:
    FailureTag.objects.create(team=team, name="tone")
    task = reverse("review_task", args=[queue.uuid, 1])
    assert 'value="tone"' in ritas.get(task).text
    ritas.post(task, {"verdict": "fail", "seen": "0", "failure_tags": ["tone"]})
    browser.post(reverse("remove_failure_tag", args=[team.slug]), {"name": "tone"})
    review = Review.objects.get(reviewer=rita)
    assert review.failure_tags == ["tone"]
    case = reverse("run_case", args=[queue.run.uuid, review.output.case.position])
    assert '<span class="tag">tone</span>' in ritas.get(case).text


def test_a_tag_that_a_colleague_has_just_added_is_an_error_of_the_form(
    browser: Client, team: Team
) -> None:
    url = reverse("failure_tags", args=[team.slug])
    colleagues = partial(FailureTag.objects.create, team=team, name="tone")

    def clean_name(form: FailureTagForm) -> str:
        colleagues()
        return str(form.cleaned_data["name"])

    with patch.object(FailureTagForm, "clean_name", clean_name):
        answer = browser.post(url, {"name": "tone"})
    assert answer.status_code == 422
    assert "The team has this tag already." in answer.text
    assert FailureTag.objects.count() == 1


def test_a_tag_is_marked_as_severe_and_not(browser: Client, ritas: Client, team: Team) -> None:
    tag = FailureTag.objects.create(team=team, name="harm")
    page = reverse("failure_tags", args=[team.slug])
    mark = reverse("mark_failure_tag", args=[team.slug])
    assert (
        "harm is severe."
        in browser.post(mark, {"name": "harm", "is_severe": "on"}, follow=True).text
    )
    assert '<span class="tag">severe</span>' in ritas.get(page).text
    browser.post(mark, {"name": "harm", "is_severe": "on"})
    assert AuditEntry.objects.filter(action="failure_tag.changed").count() == 1
    browser.post(mark, {"name": "harm"})
    tag.refresh_from_db()
    assert not tag.is_severe
    assert ritas.post(mark, {"name": "harm"}).status_code == 403
    assert "not on the list any more" in browser.post(mark, {"name": "gone"}, follow=True).text
