"""Access to every object, for pages and API alike.

Views get objects from here alone. A stranger to the team gets the 404 of a missing object; a
member whose role is too low gets 403.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404
from django.shortcuts import get_object_or_404

from evalsite.blind_review import has_blind_outputs, readable_waivers
from scoring.engine.review.blind_outputs import BlindCases, find_blind_cases, list_outputs
from scoring.engine.review.disagreements import Disagreement, Disagreements
from scoring.engine.review.pool import find_task
from scoring.models import (
    Alert,
    AlertRule,
    Comment,
    Connection,
    Correction,
    Dataset,
    DatasetVersion,
    Invitation,
    Job,
    Member,
    ModelCall,
    Output,
    OutputSet,
    Preference,
    ReleaseDecision,
    Review,
    ReviewQueue,
    ReviewTask,
    Role,
    Run,
    RunScorer,
    SavedView,
    Scorer,
    Suite,
    SuiteEntry,
    SuiteProposal,
    Team,
    ThresholdProposal,
    Token,
    Upload,
    User,
    Waiver,
)
from scoring.models.data.dataset import DatasetQuerySet
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.preference import PreferenceQuerySet
from scoring.models.reviews.review import ReviewQuerySet
from scoring.models.runs.run import RunQuerySet

Row = TypeVar("Row", bound=models.Model)
Rows = TypeVar("Rows", bound=models.QuerySet[Any])


@dataclass(frozen=True)
class _Access:
    """A user's role as a member of an object's team, which a token of theirs may narrow."""

    user: User
    role: int

    @property
    def permissions(self) -> dict[str, bool]:
        """The answer of `permissions` for this user, without a query."""
        return _permissions(_narrow_role(self.user, self.role))


@dataclass(frozen=True)
class TeamAccess(_Access):
    """A team and the user's role in it."""

    team: Team


@dataclass(frozen=True)
class RunAccess(_Access):
    """A run and the user's role in its team."""

    run: Run

    @cached_property
    def has_blind_outputs(self) -> bool:
        """Whether `blind_outputs` has any; one query, then known."""
        return has_blind_outputs(self.user, self.run)

    @cached_property
    def blind_outputs(self) -> frozenset[int]:
        """The ids of the outputs of all runs over the dataset that the user is yet to review.

        Scores, verdicts and reviews of these are hidden from the user.
        """
        return list_outputs(self.blind_cases)

    @cached_property
    def blind_outputs_of_run(self) -> frozenset[int]:
        """Those of the run itself."""
        own = self.run.output_set_id
        return list_outputs({own: self.blind_cases.get(own, {})})

    @cached_property
    def blind_cases(self) -> BlindCases:
        """The cases of the dataset that the user is yet to review."""
        if not self.has_blind_outputs:
            return {}
        return find_blind_cases(self.user, self.run.output_set.version.dataset_id)


@dataclass(frozen=True)
class OutputAccess(RunAccess):
    """An output of a run and the user's role in the run's team."""

    output: Output

    @cached_property
    def reviews(self) -> list[Review]:
        """The reviews of the output, the oldest first, with their reviewers joined."""
        return _reviews_of(self.output.pk)

    @property
    def has_blind_case(self) -> bool:
        """Whether the user is yet to review any trial of the output's case, of this run or another,
        beside which it may be laid.
        """
        key = self.output.case.key
        return any(key == blind for cases in self.blind_cases.values() for blind, _ in cases)


@dataclass(frozen=True)
class TaskAccess(OutputAccess):
    """A review that the user was asked for, with the output to review."""

    queue: ReviewQueue
    task: ReviewTask

    @property
    def key(self) -> str:
        """Tells the task from others in a session."""
        return f"{self.queue.uuid}/{self.task.position}"


def team_access_for(user: User, slug: str, role: Role = Role.VIEWER) -> TeamAccess:
    """The team with this slug, if the user is a member with at least `role`."""
    member = None if "\0" in slug else _memberships.first(user.pk, slug)
    if member is None or not _is_within_token(user, member.team_id):
        raise Http404
    _check_role(_narrow_role(user, member.role), role, member.team_id)
    return TeamAccess(user, member.role, member.team)


@prepared_query
def _memberships(user: int, slug: str) -> models.QuerySet[Member]:
    return Member.objects.select_related("team").filter(user=user, team__slug=slug)


def team_for(user: User, slug: str, role: Role = Role.VIEWER) -> Team:
    """The team of `team_access_for`."""
    return team_access_for(user, slug, role).team


def administrators(team_id: int) -> list[User]:
    """Who may do in the team what others are refused, by name."""
    people = User.objects.filter(memberships__team=team_id, memberships__role=Role.ADMIN)
    return list(people.filter(is_active=True).order_by("name", "email"))


def has_role(user: User, team: Team, role: Role) -> bool:
    """Whether the person is a member of the team with at least `role`."""
    return _held_role(user, team.pk) >= role


def check_site_administrator(user: User) -> None:
    """Raises PermissionDenied for whoever does not administer the site as a whole."""
    if not user.is_superuser:
        raise PermissionDenied("This is for administrators of the site.")


def permissions(user: User, team: Team) -> dict[str, bool]:
    """Whether the person `may_review`, `may_edit` and `may_administer`, as templates ask."""
    return _permissions(_held_role(user, team.pk))


def _permissions(held: int) -> dict[str, bool]:
    roles = {"may_review": Role.REVIEWER, "may_edit": Role.EDITOR, "may_administer": Role.ADMIN}
    return {name: held >= role for name, role in roles.items()}


def dataset_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Dataset:
    """A dataset with its team and latest version joined; it may still be loading."""
    dataset = _datasets_of_member.first(user.pk, uid)
    if dataset is None or not _is_within_token(user, dataset.team_id):
        raise Http404
    if role > Role.VIEWER:
        _check_role(_held_role(user, dataset.team_id), role, dataset.team_id)
    return dataset


@prepared_query
def _datasets_of_member(user: int, uid: uuid.UUID) -> models.QuerySet[Dataset]:
    datasets = Dataset.objects.select_related("team", "latest", "suite")
    return datasets.filter(uuid=uid, team__members__user=user)


def deleted_dataset_for(user: User, uid: uuid.UUID) -> Dataset:
    """A deleted dataset that an editor may restore, with its team joined."""
    datasets = Dataset.with_deleted.deleted().visible_to(user).select_related("team")
    return _get_row(user, datasets, uid, Role.EDITOR)


def deleted_datasets_for(team: Team) -> DatasetQuerySet:
    """The deleted datasets of a team from `team_for` that can still be restored."""
    return Dataset.with_deleted.deleted().filter(team=team)


def version_for(user: User, uid: uuid.UUID, number: int) -> DatasetVersion:
    """A ready version of the dataset, with dataset and team joined."""
    versions = DatasetVersion.objects.visible_to(user).select_related("dataset__team")
    return get_object_or_404(versions, dataset__uuid=uid, number=number)


def output_set_for(user: User, uid: uuid.UUID) -> OutputSet:
    """A whole output set with its version, dataset and team joined."""
    output_sets = OutputSet.objects.visible_to(user).ready()
    return get_object_or_404(output_sets.select_related("version__dataset__team"), uuid=uid)


def run_access_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> RunAccess:
    """A run with its team, output set, version, dataset and the recipe of its outputs joined."""
    run, member_role = _run_and_role(user, uid, role)
    return RunAccess(user, member_role, run)


def paired_run_for(opened: RunAccess, uid: uuid.UUID) -> Run:
    """A run over the same dataset as the one that is opened, as `run_for`, by one query."""
    team, dataset = opened.run.team, opened.run.output_set.version.dataset
    run = _runs_over_dataset.first(uid, team.pk, dataset.pk)
    if run is None:
        raise Http404
    run.team, run.output_set.version.dataset = team, dataset
    return run


@prepared_query
def _runs_over_dataset(uid: uuid.UUID, team: int, dataset: int) -> models.QuerySet[Run]:
    runs = Run.objects.select_related("output_set__version")
    return runs.filter(uuid=uid, team=team, output_set__version__dataset=dataset)


def run_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Run:
    """The run of `run_access_for`."""
    return run_access_for(user, uid, role).run


def _run_and_role(user: User, uid: uuid.UUID, role: Role) -> tuple[Run, int]:
    """The run and the user's role as a member of its team, by one query.

    A stranger's run takes as long to be refused as one that does not exist.
    """
    run = _runs_of_member.first(user.pk, uid)
    if run is None or not _is_within_token(user, run.team_id):
        raise Http404
    member_role: int = run.member_role  # type: ignore[attr-defined]
    _check_role(_narrow_role(user, member_role), role, run.team_id)
    return run, member_role


@prepared_query
def _runs_of_member(user: int, uid: uuid.UUID) -> models.QuerySet[Run]:
    members = Member.objects.filter(user=user, team=models.OuterRef("team"))
    runs = Run.objects.select_related(
        "team",
        "output_set__version__dataset__latest",
        "output_set__generation",
        "created_by",
        "suite",
    )
    known = runs.annotate(member_role=models.Subquery(members.values("role")))
    return known.filter(uuid=uid, member_role__isnull=False)


def deleted_run_for(user: User, uid: uuid.UUID) -> Run:
    """A deleted run that an editor may bring back, with its team joined."""
    runs = Run.with_deleted.deleted().visible_to(user).select_related("team")
    return _get_row(user, runs, uid, Role.EDITOR)


def deleted_runs_for(team: Team) -> RunQuerySet:
    """The deleted runs of a team from `team_for` that can still be brought back."""
    return Run.with_deleted.deleted().filter(team=team)


def runs_for(user: User, team: Team, uids: Sequence[uuid.UUID]) -> list[Run]:
    """The team's runs with these ids, in their order; team, output set, version, dataset joined."""
    runs = {run.uuid: run for run in _runs_of_team(user.pk, team.pk, uids)}
    if any(uid not in runs or not _is_within_token(user, runs[uid].team_id) for uid in uids):
        raise Http404
    return [runs[uid] for uid in uids]


@prepared_query
def _runs_of_team(user: int, team: int, uids: Sequence[uuid.UUID]) -> models.QuerySet[Run]:
    runs = Run.objects.filter(team=team, team__members__user=user, uuid__in=uids)
    return runs.select_related("team", "output_set__version__dataset")


def output_for(
    user: User, uid: uuid.UUID, position: int, trial: int = 0, role: Role = Role.VIEWER
) -> OutputAccess:
    """The output a run has for the case at `position` of its dataset version.

    The run has its team, output set, version and dataset joined, and the output its case.
    """
    run, member_role = _run_and_role(user, uid, role)
    output_set = run.output_set
    output = _outputs_at.first(output_set.pk, output_set.version_id, position, trial)
    if output is None:
        raise Http404
    return OutputAccess(user, member_role, run, output)


@prepared_query
def _outputs_at(
    output_set: int, version: int, position: int, trial: int
) -> models.QuerySet[Output]:
    outputs = Output.objects.filter(output_set=output_set, trial=trial)
    at_place = outputs.filter(case__version=version, case__position=position)
    return at_place.select_related("case")


def reviews_for(opened: OutputAccess) -> list[Review] | None:
    """The reviews of an output that the user may see, the oldest first.

    None while the review is blind: reviewers see those of others after their own verdict.
    """
    reviews = opened.reviews
    has_reviewed = any(review.reviewer_id == opened.user.pk for review in reviews)
    return reviews if has_reviewed or opened.role < Role.REVIEWER else None


@prepared_query
def _reviews_of(output: int) -> models.QuerySet[Review]:
    return Review.objects.filter(output=output).select_related("reviewer").order_by("pk")


def output_of_case(run: Run, key: str, trial: int) -> Output:
    """The output that a run from `run_for` has for the case of this key."""
    case = {"case__version": run.output_set.version_id, "case__key": key}
    return get_object_or_404(Output, output_set=run.output_set_id, trial=trial, **case)


def reviews_of_run(opened: RunAccess) -> ReviewQuerySet:
    """The reviews of the outputs of a run that the user may see."""
    reviews = Review.objects.of_run(opened.run).readable_by(opened.user, opened.role)
    return _leave_out_blind(reviews, opened)


def _leave_out_blind(rows: Rows, opened: RunAccess) -> Rows:
    """The rows, which are about outputs of the run, without those on outputs blind to the user."""
    if not opened.has_blind_outputs:
        return rows
    return rows.exclude(output__in=opened.blind_outputs_of_run)


def exportable_reviews_of_run(opened: RunAccess) -> ReviewQuerySet:
    """The reviews of the outputs of a run that the user may export.

    Reviewers get what the pages show them. Editors, who take reviews elsewhere, get those of all
    outputs but the ones that they were asked to review and have not.
    """
    if opened.role < Role.EDITOR:
        return reviews_of_run(opened)
    return _leave_out_blind(Review.objects.of_run(opened.run), opened)


def exportable_preferences_of(user: User, queue: ReviewQueue) -> PreferenceQuerySet:
    """The preferences between the runs of a pairwise queue that the user may export.

    As with reviews: reviewers get those on pairs that they have compared, editors all but those on
    pairs that they were asked to compare and have not.
    """
    assert queue.baseline is not None  # noqa: S101  a pairwise queue has one
    preferences = Preference.objects.between(queue.run, queue.baseline)
    role = _held_role(user, queue.team_id)
    if role < Role.EDITOR:
        return preferences.readable_by(user, role)
    tasks = (
        ReviewTask.objects.open()
        .asked_of(user)
        .filter(
            queue__run__output_set=queue.run.output_set_id,
            queue__baseline__output_set=queue.baseline.output_set_id,
        )
    )
    return preferences.exclude(candidate__in=tasks.values("output"))


def comments_of_run(opened: RunAccess) -> models.QuerySet[Comment]:
    """The comments on the outputs of a run, but for those that the user is yet to review."""
    return _leave_out_blind(Comment.objects.of_run(opened.run), opened)


def review_queue_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> ReviewQueue:
    """A review queue with its team, run and the run's dataset joined."""
    queues = ReviewQueue.objects.visible_to(user)
    related = ("run__output_set__version__dataset", "baseline__output_set")
    joined = queues.select_related("team", "created_by", "question_set", *related)
    return _get_row(user, joined, uid, role)


def review_task_for(user: User, uid: uuid.UUID, number: int) -> TaskAccess:
    """The user's own task of this number in a queue, with its output as `output_for` reads it.

    One of a pool is reserved for them from this moment on.
    """
    queue = review_queue_for(user, uid, Role.REVIEWER)
    task = find_task(queue, user, number)
    if task is None:
        raise Http404
    case = task.output.case
    opened = output_for(user, queue.run.uuid, case.position, task.output.trial, Role.REVIEWER)
    return TaskAccess(user, opened.role, opened.run, opened.output, queue, task)


def disagreements_for(user: User, uid: uuid.UUID) -> tuple[RunAccess, Disagreements]:
    """A run and the disagreements on its outputs that the user may see."""
    opened = run_access_for(user, uid)
    return opened, Disagreements(opened.run, user, opened.role)


def disagreement_for(
    user: User, uid: uuid.UUID, position: int, trial: int, role: Role = Role.VIEWER
) -> tuple[OutputAccess, Disagreements, Disagreement]:
    """An output as `output_for` reads it, its run's disagreements, and the one on the output.

    404 where its reviewers agree, and while the user is still asked to review it.
    """
    opened = output_for(user, uid, position, trial, role)
    disagreements = Disagreements(opened.run, user, opened.role)
    disagreement = disagreements.find(opened.output)
    if disagreement is None:
        raise Http404
    return opened, disagreements, disagreement


def corrections_for(dataset: Dataset, uids: Sequence[uuid.UUID]) -> list[Correction]:
    """The corrections of a dataset from `dataset_for` with these ids, in their order."""
    rows = Correction.objects.for_list().filter(dataset=dataset, uuid__in=uids)
    corrections = {row.uuid: row for row in rows}
    if any(uid not in corrections for uid in uids):
        raise Http404
    return [corrections[uid] for uid in dict.fromkeys(uids)]


def own_correction_for(user: User, uid: uuid.UUID) -> Correction:
    """A correction that the user proposed, with its dataset and team joined."""
    rows = Correction.objects.visible_to(user).for_list()
    correction = _get_row(user, rows, uid, Role.REVIEWER)
    if correction.author_id != user.pk:
        raise PermissionDenied("Only its author may withdraw a correction.")
    return correction


def members_with_role(team: Team, role: Role) -> list[User]:
    """The active members of a team with at least `role`, by e-mail address."""
    members = Member.objects.filter(team=team, role__gte=role, user__is_active=True)
    return [member.user for member in members.select_related("user").order_by("user__email")]


def comments_for(opened: OutputAccess) -> list[Comment]:
    """The comments on an output, the oldest first."""
    return _comments_on(opened.output.pk)


@prepared_query
def _comments_on(output: int) -> models.QuerySet[Comment]:
    return Comment.objects.filter(output=output).select_related("author").order_by("pk")


def can_delete(opened: OutputAccess, comment: Comment) -> bool:
    """Whether the user may delete and restore the comment, as its author and admins may."""
    return comment.author_id == opened.user.pk or opened.permissions["may_administer"]


def comment_for(opened: OutputAccess, uid: uuid.UUID, *, is_deleted: bool = False) -> Comment:
    """A comment on an output that the user may delete, or restore."""
    comments = Comment.with_deleted.filter(deleted_at__isnull=not is_deleted)
    comment = get_object_or_404(comments, output=opened.output, uuid=uid)
    if not can_delete(opened, comment):
        raise PermissionDenied("Only its author and the team's admins may delete a comment.")
    return comment


def own_comment_for(opened: OutputAccess, uid: uuid.UUID) -> Comment:
    """A comment on an output that the user wrote, and so may edit."""
    comment = get_object_or_404(Comment.objects, output=opened.output, uuid=uid)
    if comment.author_id != opened.user.pk:
        raise PermissionDenied("Only its author may edit a comment.")
    return comment


def run_scorer_for(user: User, uid: uuid.UUID, place: int, role: Role = Role.VIEWER) -> RunScorer:
    """The scorer at this place in a run's order, with version, scorer and run joined."""
    run = run_for(user, uid, role)
    scorer = run.scorers.select_related("version__scorer").filter(position=place).first()
    if scorer is None:
        raise Http404
    scorer.run = run
    return scorer


def replies_for(run: Run, refs: Sequence[str]) -> dict[str, ModelCall]:
    """By their names the stored replies that belong to the run's team."""
    keys = {int(ref) for ref in refs if ref.isascii() and ref.isdecimal() and len(ref) < 19}
    calls = ModelCall.objects.filter(team=run.team_id, pk__in=keys)
    return {str(call.pk): call for call in calls}


def scorer_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Scorer:
    """A scorer with its team and current version joined."""
    scorers = Scorer.objects.visible_to(user).select_related("team", "current")
    return _get_row(user, scorers, uid, role)


def suite_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Suite:
    """A suite with its team joined and its entries' scorers prefetched."""
    suites = Suite.objects.visible_to(user).select_related("team")
    return _get_row(user, suites.prefetch_related("entries__scorer__current"), uid, role)


def suite_entry_for(
    user: User, uid: uuid.UUID, scorer: uuid.UUID, role: Role = Role.VIEWER
) -> SuiteEntry:
    """A scorer's entry in a suite, with scorer, its current version, suite and teams joined."""
    entries = SuiteEntry.objects.filter(suite__team__in=Team.objects.of(user))
    entries = entries.select_related("suite__team", "scorer__team", "scorer__current")
    entry = get_object_or_404(entries, suite__uuid=uid, scorer__uuid=scorer)
    if role > Role.VIEWER:
        _check_role(_held_role(user, entry.suite.team_id), role, entry.suite.team_id)
    return entry


def proposal_for(user: User, uid: uuid.UUID, role: Role) -> SuiteProposal:
    """A proposal with its suite and team joined."""
    proposals = SuiteProposal.objects.visible_to(user).select_related("suite__team")
    return _get_row(user, proposals, uid, role)


def threshold_proposal_for(user: User, uid: uuid.UUID, role: Role) -> ThresholdProposal:
    """A proposal with its suite and team joined."""
    proposals = ThresholdProposal.objects.visible_to(user).select_related("suite__team", "team")
    return _get_row(user, proposals, uid, role)


def waiver_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Waiver:
    """A waiver with its dataset, team, scorer and people joined.

    404 for one of a case that the user is yet to review.
    """
    waivers = readable_waivers(user, Waiver.objects.visible_to(user))
    return _get_row(user, waivers.for_list(), uid, role)


def release_decision_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> ReleaseDecision:
    """A release decision with its run, team, baseline and people joined."""
    return _get_row(user, ReleaseDecision.objects.visible_to(user).for_list(), uid, role)


def connection_for(user: User, slug: str, uid: uuid.UUID) -> Connection:
    """A connection with its team joined; only the team's admins get at one."""
    team = team_for(user, slug, Role.ADMIN)
    return get_object_or_404(Connection.objects.select_related("team"), team=team, uuid=uid)


def alert_rule_for(user: User, uid: uuid.UUID, role: Role = Role.ADMIN) -> AlertRule:
    """An alert rule with its team and dataset joined."""
    rules = AlertRule.objects.visible_to(user)
    return _get_row(user, rules.select_related("team", "dataset__team", "created_by"), uid, role)


def deleted_alert_rule_for(user: User, uid: uuid.UUID) -> AlertRule:
    """A deleted rule that an admin may bring back, with its team and dataset joined."""
    rules = AlertRule.with_deleted.deleted().visible_to(user).select_related("team", "dataset")
    return _get_row(user, rules, uid, Role.ADMIN)


def alert_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Alert:
    """An alert with its rule, its team and its dataset joined."""
    alert = get_object_or_404(Alert.objects.visible_to(user).for_list(), uuid=uid)
    if role > Role.VIEWER:
        _check_role(_held_role(user, alert.rule.team_id), role, alert.rule.team_id)
    return alert


def invitation_for(user: User, uid: uuid.UUID) -> Invitation:
    """An invitation with its team joined; only the team's admins get at one."""
    own = Invitation.objects.filter(team__in=Team.objects.of(user).order_by())
    return _get_row(user, own.select_related("team"), uid, Role.ADMIN)


def token_for(user: User, uid: uuid.UUID) -> Token:
    """An API token with its team joined; only the team's admins get at one."""
    own = Token.objects.filter(team__in=Team.objects.of(user).order_by())
    return _get_row(user, own.select_related("team"), uid, Role.ADMIN)


def job_for(user: User, uid: uuid.UUID, role: Role) -> Job:
    """A job of the worker with its team joined."""
    return _get_row(user, Job.objects.visible_to(user).select_related("team"), uid, role)


def saved_view_for(user: User, run: Run, uid: uuid.UUID) -> SavedView:
    """A view of the run's team that the person may remove: their own, or a shared one as editor."""
    views = SavedView.objects.for_person(user, run.team).select_related("team")
    view = get_object_or_404(views, uuid=uid)
    if view.owner_id is None:
        _check_role(_held_role(user, run.team_id), Role.EDITOR, run.team_id)
    return view


def upload_for(user: User, uid: uuid.UUID, role: Role = Role.EDITOR) -> Upload:
    """An upload with its team and dataset joined."""
    uploads = Upload.objects.visible_to(user).select_related("team", "dataset", "version__dataset")
    return _get_row(user, uploads, uid, role)


def _get_row(user: User, rows: models.QuerySet[Row], uid: uuid.UUID, role: Role) -> Row:
    """The row of this id among `rows`, which are visible to the user and have a team."""
    row = get_object_or_404(rows, uuid=uid)
    if role > Role.VIEWER:
        _check_role(_held_role(user, cast("Run", row).team_id), role, cast("Run", row).team_id)
    return row


def _member_role(user: User, team_id: int) -> int:
    """The user's role as a member of the team; 0 for a stranger and for another team's token."""
    return (_roles.first(user.pk, team_id) or 0) if _is_within_token(user, team_id) else 0


@prepared_query
def _roles(user: int, team: int) -> models.QuerySet[Member, int]:
    return Member.objects.filter(user=user, team=team).values_list("role", flat=True)


def _is_within_token(user: User, team_id: int) -> bool:
    """Whether a token that the user has come with is one of this team."""
    return user.token is None or user.token.team_id == team_id


def _narrow_role(user: User, role: int) -> int:
    return min(role, user.token.role) if user.token else role


def _held_role(user: User, team_id: int) -> int:
    """What the user may do in the team, signed in as they are; 0 for nothing."""
    return _narrow_role(user, _member_role(user, team_id))


def _check_role(held: int, role: Role, team_id: int) -> None:
    """Raise Http404 for a stranger and PermissionDenied for a role that is too low.

    The latter's text is shown: it says who can do it, or can change the role.
    """
    if not held:
        raise Http404
    if held < role:
        needed = f"This needs the role {role.label}; yours is {Role(held).label}."
        names = ", ".join(str(person) for person in administrators(team_id))
        raise PermissionDenied(f"{needed} Admins of the team: {names}." if names else needed)
