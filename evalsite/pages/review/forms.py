"""Forms of review queues: what is reviewed, by whom and until when."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import date, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone

from evalsite.pages.review.answer_fields import AnswersForm
from evalsite.pages.web.fields import LongTextField, NameField
from scoring.engine.review.pairwise import CHOICES
from scoring.engine.review.pool import change_pool
from scoring.engine.review.queues import QueueError, QueuePlan, create_queue, reassign
from scoring.models import (
    Correction,
    FailureTag,
    PreferenceVerdict,
    QuestionSet,
    QueueOrder,
    ReviewQueue,
    ReviewVerdict,
    Run,
    Team,
    User,
)
from scoring.models.case_list.filters import NO_FILTERS, CaseFilters
from scoring.models.reviews.correction import MAX_REASON
from scoring.models.reviews.failure_tag import MAX_NAME
from scoring.models.reviews.queue import MAX_CASES, MAX_REVIEWERS_PER_CASE, RESERVATION
from scoring.models.reviews.review import MAX_NOTE, MAX_REVIEWER

TAG_EXISTS: Final = "The team has this tag already."
ASSIGNED: Final = "assigned"
POOLED: Final = "pool"
_MINUTES: Final = RESERVATION // timedelta(minutes=1)
_USUAL_COUNT: Final = 100  # cases


class QueueForm(forms.Form):
    """A new queue for a run. Whoever may not edit reviews alone."""

    baseline: Run | None = None

    name = NameField(max_length=120)
    order = forms.ChoiceField(
        choices=[
            (QueueOrder.VALUE, "Most informative first"),
            (QueueOrder.RANDOM, "Random sample"),
        ],
        widget=forms.RadioSelect,
        initial=QueueOrder.VALUE,
        help_text=(
            "Most informative: near a threshold, disagreeing scorers, changed since the baseline, "
            "inconsistent judge, not reviewed. Only a random sample represents the whole run."
        ),
    )
    case_count = forms.IntegerField(
        label="Cases", min_value=1, max_value=MAX_CASES, initial=_USUAL_COUNT
    )
    reviewers = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    reviewers_per_case = forms.IntegerField(
        label="Reviews per case",
        min_value=1,
        max_value=MAX_REVIEWERS_PER_CASE,
        initial=1,
        help_text="Independent reviewers who see each case.",
    )
    assignment = forms.ChoiceField(
        choices=[
            (ASSIGNED, "Assigned now, as many to each reviewer"),
            (POOLED, "Taken from a pool, one at a time"),
        ],
        widget=forms.RadioSelect,
        initial=ASSIGNED,
        required=False,
        help_text=f"From a pool a case is reserved for {_MINUTES} minutes, then free for others.",
    )
    question_set = forms.ModelChoiceField(
        QuestionSet.objects.none(),
        label="Questions",
        required=False,
        empty_label="None, the verdict alone",
    )
    due_on = forms.DateField(
        label="Due", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(
        self,
        *args: Any,
        run: Run,
        person: User,
        people: Sequence[User],
        filters: CaseFilters,
        query: str,
        blind: frozenset[int] = frozenset(),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.run, self.person, self.filters, self.query = run, person, filters, query
        self.blind = blind
        self.people = {str(each.pk): each for each in people}
        self.initial.update(name=f"Review of {run.name}"[:120], reviewers=[str(person.pk)])
        field = self.fields["reviewers"]
        field.choices = [(pk, str(each)) for pk, each in self.people.items()]  # type: ignore[attr-defined]
        sets = QuestionSet.objects.newest(run.team)
        self.fields["question_set"].queryset = sets  # type: ignore[attr-defined]
        if not sets:
            del self.fields["question_set"]
        if len(self.people) == 1:
            for name in ("reviewers", "reviewers_per_case", "assignment"):
                del self.fields[name]

    def clean_due_on(self) -> date | None:
        due: date | None = self.cleaned_data["due_on"]
        if due and due < timezone.localdate():
            raise forms.ValidationError("This date is in the past.")
        return due

    def save(self) -> ReviewQueue | None:
        """The new queue; None with an error where it cannot be created."""
        cleaned = self.cleaned_data
        chosen = cleaned.get("reviewers", list(self.people))
        plan = QueuePlan(
            name=cleaned["name"],
            reviewers=[self.people[pk] for pk in chosen],
            case_count=cleaned["case_count"],
            order=QueueOrder(cleaned.get("order", QueueOrder.RANDOM)),
            baseline=self.baseline,
            reviewers_per_case=cleaned.get("reviewers_per_case", 1),
            is_pooled=cleaned.get("assignment") == POOLED,
            question_set=cleaned.get("question_set"),
            due_on=cleaned["due_on"],
            filters=self.filters,
            query=self.query,
            blind=self.blind,
        )
        try:
            return create_queue(self.run, plan, self.person)
        except QueueError as error:
            self.add_error(None, str(error))
            return None


class PairwiseQueueForm(QueueForm):
    """A new queue that puts outputs of the run beside those of a baseline."""

    def __init__(self, *args: Any, run: Run, baseline: Run, **kwargs: Any) -> None:
        super().__init__(*args, run=run, filters=NO_FILTERS, query="", **kwargs)
        self.baseline = baseline
        self.initial["name"] = f"{run.name} vs. {baseline.name}"[:120]
        del self.fields["order"]
        self.fields.pop("question_set", None)
        self.fields["case_count"].label = "Pairs"
        if each := self.fields.get("reviewers_per_case"):
            each.label = "Judgements per pair"
            each.help_text = "Independent reviewers who compare each pair."


class PreferenceForm(forms.Form):
    """Which of two outputs is better. `seen` is the code of the verdict shown, or empty."""

    choice = forms.ChoiceField(choices=[(choice, choice) for choice in CHOICES])
    note = LongTextField(max_length=MAX_NOTE, required=False)
    seen = forms.ChoiceField(
        choices=[("", ""), *((verdict.code, verdict.label) for verdict in PreferenceVerdict)],
        required=False,
    )

    @property
    def fault(self) -> str:
        """What is wrong with it, in one sentence."""
        name, texts = next(iter(self.errors.items()))
        return f"Your choice is not saved: {name}: {texts[0]}"


class VerdictForm(forms.Form):
    """A verdict on an output. `seen` is the revision of the verdict that was shown, 0 for none."""

    verdict = forms.ChoiceField(
        choices=[(verdict.code, verdict.label) for verdict in ReviewVerdict]
    )
    note = LongTextField(max_length=MAX_NOTE, required=False)
    seen = forms.IntegerField(min_value=0)

    @property
    def chosen_verdict(self) -> ReviewVerdict:
        return ReviewVerdict[self.cleaned_data["verdict"].upper()]

    @property
    def fault(self) -> str:
        """What is wrong with it, in one sentence."""
        name, texts = next(iter(self.errors.items()))
        label = self.fields[name].label or name
        return f"Your verdict is not saved: {label}: {texts[0]}"


class TaskForm(AnswersForm, VerdictForm):
    """A verdict on the case of a task, with failure tags of the team, and answers to questions.

    `new_tag` is one that the team does not have yet.
    """

    failure_tags = forms.MultipleChoiceField(required=False)
    new_tag = NameField(max_length=MAX_NAME, required=False)

    def __init__(
        self, *args: Any, team: Team, kept_tags: Collection[str] = (), **kwargs: Any
    ) -> None:
        """Of the tags that the team has no more, the review may keep its own."""
        super().__init__(*args, **kwargs)
        self._team = team
        names = FailureTag.objects.filter(team=team).values_list("name", flat=True)
        self.fields["failure_tags"].choices = [(name, name) for name in {*names, *kept_tags}]  # type: ignore[attr-defined]

    def save_tags(self, by: User) -> list[str]:
        """The tags that were chosen; a new one is on the team's list from now on."""
        chosen: list[str] = self.cleaned_data["failure_tags"]
        if name := self.cleaned_data["new_tag"].strip():
            tag = FailureTag.objects.obtain(self._team, name, by=by)
            chosen = list(dict.fromkeys([*chosen, tag.name]))
        return chosen


class DecisionForm(forms.Form):
    """What becomes of corrections: a decision and, where they are rejected, why."""

    decision = forms.ChoiceField(choices=[("approve", "Approve"), ("reject", "Reject")])
    reason = LongTextField(max_length=MAX_REASON, required=False)
    corrections = forms.TypedMultipleChoiceField(coerce=uuid.UUID, required=False)

    def __init__(self, *args: Any, offered: Sequence[Correction], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(each.uuid), each.key) for each in offered]
        self.fields["corrections"].choices = choices  # type: ignore[attr-defined]


class ReassignForm(forms.Form):
    """Open tasks that go from one reviewer to another."""

    old = forms.ChoiceField(label="From")
    new = forms.ChoiceField(label="To")

    def __init__(
        self,
        *args: Any,
        queue: ReviewQueue,
        reviewers: Sequence[User],
        people: Sequence[User],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.queue = queue
        self.reviewers = {str(each.pk): each for each in reviewers}
        self.people = {str(each.pk): each for each in people}
        for name, users in (("old", self.reviewers), ("new", self.people)):
            choices = [(pk, str(user)) for pk, user in users.items()]
            self.fields[name].choices = choices  # type: ignore[attr-defined]

    @property
    def is_possible(self) -> bool:
        """Whether there is anybody else to take somebody's open tasks."""
        return bool(self.reviewers) and len({*self.reviewers, *self.people}) > 1

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("old") and cleaned.get("old") == cleaned.get("new"):
            self.add_error("new", "This is the same person.")
        return cleaned

    def save(self, by: User) -> str:
        """Reassign them; what was done, in words."""
        old = self.reviewers[self.cleaned_data["old"]]
        new = self.people[self.cleaned_data["new"]]
        number = reassign(self.queue, old, new, by)
        return f"{number:,} open task{'s' * (number != 1)} reassigned to {new}."


class PoolForm(forms.Form):
    """Who takes cases of a pool."""

    reviewers = forms.MultipleChoiceField(
        label="Who takes its cases", widget=forms.CheckboxSelectMultiple
    )
    is_possible = True

    def __init__(
        self, *args: Any, queue: ReviewQueue, people: Sequence[User], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.queue = queue
        self.people = {str(each.pk): each for each in people}
        field = self.fields["reviewers"]
        field.choices = [(pk, str(each)) for pk, each in self.people.items()]  # type: ignore[attr-defined]
        self.initial["reviewers"] = [str(each.pk) for each in queue.pool.all()]

    def clean_reviewers(self) -> list[User]:
        chosen = [self.people[pk] for pk in self.cleaned_data["reviewers"]]
        if len(chosen) < self.queue.reviewers_per_case:
            raise forms.ValidationError(
                f"Each case is to have {self.queue.reviewers_per_case} independent reviews."
            )
        return chosen

    def save(self, by: User) -> str:
        """Change the pool; what was done, in words."""
        change_pool(self.queue, self.cleaned_data["reviewers"], by)
        return "The reviewers of this queue are changed."


class FailureTagForm(forms.Form):
    """A new failure tag of the team."""

    name = NameField(max_length=MAX_NAME)
    help_text = forms.CharField(max_length=200, required=False, label="Meaning")
    is_severe = forms.BooleanField(
        required=False,
        label="Severe",
        help_text="A scorer that passes an output with this tag is not fit to gate.",
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if FailureTag.objects.filter(team=self.team, name__same=name).exists():
            raise forms.ValidationError(TAG_EXISTS)
        return name


class ReviewFileForm(forms.Form):
    """A file of reviews, to be imported or, with `preview`, only looked at."""

    file = forms.FileField(
        allow_empty_file=True,
        help_text=(
            "CSV, TSV, JSON, JSONL or XLSX with the columns key, verdict and reviewer and, as far "
            "as you have them, trial, score, note, failure_tags, answers and date. A verdict is "
            "pass, fail, unsure or bad_case, or 1 or 0; answers are a JSON object by question."
        ),
    )
    reviewer = forms.CharField(
        label="Default reviewer",
        max_length=MAX_REVIEWER,
        required=False,
        help_text="For rows that name none: a member's e-mail address, or any name.",
    )
    preview = forms.BooleanField(required=False, widget=forms.HiddenInput)
