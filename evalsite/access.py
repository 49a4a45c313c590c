"""The one door to every object, for pages and API alike.

A person reaches an object only through here. A stranger to its team gets the 404 that a missing
object gets; a member whose role is too small gets 403.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404

from scoring.models import (
    Alert,
    AlertRule,
    Comment,
    Connection,
    Dataset,
    DatasetVersion,
    Errand,
    Member,
    ModelCall,
    Output,
    OutputSet,
    Review,
    Role,
    Run,
    RunScorer,
    SavedView,
    Scorer,
    Suite,
    Team,
    Upload,
    User,
)
from scoring.models.review import ReviewQuerySet
from scoring.models.run import RunQuerySet

Row = TypeVar("Row", bound=models.Model)


class _WithRole(Protocol):
    role: int


class _Said(Protocol):
    is_reviewed: bool
    reviews_seen: list[Any] | None
    comments_seen: list[Any] | None


def team_for(user: User, slug: str, role: Role = Role.VIEWER) -> Team:
    """The team with this slug, if the person is a member with at least `role`.

    Its attribute `role` is that of the person, for `granted_on`.
    """
    member = _with_role(_member(user, models.Q(team__slug=slug)), role)
    cast("_WithRole", member.team).role = member.role
    return member.team


def may(user: User, team: Team, role: Role) -> bool:
    """Whether the person is a member of the team with at least `role`."""
    member = Member.objects.filter(user=user, team=team).first()
    return member is not None and _as_signed_in(member, user).may(role)


def granted(user: User, team: Team) -> dict[str, bool]:
    """Whether the person `may_review`, `may_edit` and `may_administer`, as templates ask."""
    member = Member.objects.filter(user=user, team=team).first()
    return _granted(_as_signed_in(member, user).held_role if member else 0)


def granted_on(user: User, found: Run | Team) -> dict[str, bool]:
    """As `granted`, of a run from `run_for` or a team from `team_for`, without another query."""
    role = cast("_WithRole", found).role
    return _granted(min(role, user.token.role) if user.token else role)


def _granted(held: int) -> dict[str, bool]:
    roles = {"may_review": Role.REVIEWER, "may_edit": Role.EDITOR, "may_administer": Role.ADMIN}
    return {name: held >= role for name, role in roles.items()}


def dataset_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Dataset:
    """A dataset with its team and latest version joined; it may still be loading."""
    found = Dataset.objects.visible_to(user).select_related("team", "latest", "suite")
    return _opened(user, found, uid, role)


def version_for(user: User, uid: uuid.UUID, number: int) -> DatasetVersion:
    """A ready version of the dataset, with dataset and team joined."""
    known = DatasetVersion.objects.visible_to(user).select_related("dataset__team")
    version = known.filter(dataset__uuid=uid, number=number).first()
    if version is None:
        raise Http404
    return version


def output_set_for(user: User, uid: uuid.UUID) -> OutputSet:
    """A whole output set with its version, dataset and team joined."""
    known = OutputSet.objects.visible_to(user).ready().select_related("version__dataset__team")
    found = known.filter(uuid=uid).first()
    if found is None:
        raise Http404
    return found


def run_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Run:
    """A run with its team, output set, version, dataset and the recipe of its outputs joined.

    Its attribute `paid_usd` is what its calls have cost so far, told where it has a budget;
    `role` that of the person, for `granted_on`; `has_alerts` whether it ever set one off.
    """
    paid = ModelCall.objects.filter(run=models.OuterRef("pk")).order_by().values("run")
    sums = models.Subquery(paid.annotate(sum=models.Sum("cost_usd")).values("sum"))
    has_budget = models.When(budget_usd__isnull=False, then=sums)
    runs = _runs_with_role(user).annotate(
        paid_usd=models.Case(has_budget),
        has_alerts=models.Exists(Alert.objects.filter(run=models.OuterRef("pk"))),
    )
    found = runs.select_related("output_set__generation", "created_by", "suite")
    return _opened(user, found, uid, role)


def _runs_with_role(user: User) -> RunQuerySet:
    mine = Member.objects.filter(user=user, team=models.OuterRef("team")).values("role")
    runs = Run.objects.visible_to(user).annotate(role=models.Subquery(mine))
    return runs.select_related("team", "output_set__version__dataset")


def deleted_run_for(user: User, uid: uuid.UUID) -> Run:
    """A deleted run that an editor may bring back, with its team joined."""
    found = Run.with_deleted.deleted().visible_to(user).select_related("team")
    return _opened(user, found, uid, Role.EDITOR)


def deleted_runs_of(team: Team) -> RunQuerySet:
    """The deleted runs of a team from `team_for` that can still be brought back."""
    return Run.with_deleted.deleted().filter(team=team)


def runs_for(user: User, team: Team, uids: Sequence[uuid.UUID]) -> list[Run]:
    """The team's runs of these names, in their order, with what `run_for` joins to compare them."""
    found = Run.objects.visible_to(user).filter(team=team, uuid__in=uids)
    runs = {run.uuid: run for run in found.select_related("team", "output_set__version__dataset")}
    if any(uid not in runs for uid in uids):
        raise Http404
    return [runs[uid] for uid in uids]


def output_for(
    user: User, uid: uuid.UUID, position: int, trial: int = 0, role: Role = Role.VIEWER
) -> tuple[Run, Output]:
    """The output a run has for the case at `position` of its dataset version.

    The run has its team, output set, version and dataset joined, and the person's `role`. The
    output's attribute `has_trials` tells whether there are others for the same case; `is_reviewed`,
    `reviews_for` and `comments_for` read what people said of it from columns of the same row.
    """
    run = _opened(user, _runs_with_role(user), uid, role)
    same_case = {"output_set": models.OuterRef("output_set"), "case": models.OuterRef("case")}
    others = Output.objects.filter(**same_case).exclude(trial=trial)
    reviews = Review.objects.open_to(user, cast("_WithRole", run).role)
    output = (
        Output.objects.select_related("case")
        .annotate(
            has_trials=models.Exists(others),
            is_reviewed=models.Exists(Review.objects.filter(output=models.OuterRef("pk"))),
            reviews_seen=reviews.gathered(),
            comments_seen=Comment.objects.all().gathered(),
        )
        .filter(output_set=run.output_set_id, case__version=run.output_set.version_id)
        .filter(case__position=position, trial=trial)
        .first()
    )
    if output is None:
        raise Http404
    return run, output


def reviews_for(run: Run, output: Output) -> list[Review] | None:
    """The reviews of an output from `output_for` that the person may see.

    None while they are blind: who reviews sees what others said after the own verdict.
    """
    seen = Review.read(cast("_Said", output).reviews_seen)
    is_reviewer = cast("_WithRole", run).role >= Role.REVIEWER
    return None if is_reviewer and not seen else seen


def output_of_case(run: Run, key: str, trial: int) -> Output:
    """The output that a run from `run_for` has for the case of this key."""
    named = {"case__version": run.output_set.version_id, "case__key": key, "trial": trial}
    output = Output.objects.filter(output_set=run.output_set_id, **named).first()
    if output is None:
        raise Http404
    return output


def reviews_of_run(user: User, run: Run) -> ReviewQuerySet:
    """The reviews of the outputs of a run from `run_for` that the person may see."""
    return Review.objects.of_run(run).open_to(user, cast("_WithRole", run).role)


def is_reviewed(output: Output) -> bool:
    """Whether anybody has reviewed an output from `output_for`."""
    return cast("_Said", output).is_reviewed


def comments_for(output: Output) -> list[Comment]:
    """The comments on an output from `output_for`, the oldest first."""
    return Comment.read(cast("_Said", output).comments_seen)


def may_delete(user: User, run: Run, comment: Comment) -> bool:
    """Whether the person may delete the comment and bring it back: the author and admins may."""
    return comment.author_id == user.pk or granted_on(user, run)["may_administer"]


def comment_for(
    user: User, run: Run, output: Output, uid: uuid.UUID, *, is_deleted: bool = False
) -> Comment:
    """A comment on an output from `output_for` that the person may delete, or bring back."""
    found = Comment.with_deleted.filter(output=output, deleted_at__isnull=not is_deleted)
    comment = found.filter(uuid=uid).first()
    if comment is None:
        raise Http404
    if not may_delete(user, run, comment):
        raise PermissionDenied("Only its author and the team's admins may delete a comment.")
    return comment


def own_comment_for(user: User, output: Output, uid: uuid.UUID) -> Comment:
    """A comment on an output from `output_for` that the person wrote, and so may edit."""
    comment = Comment.objects.filter(output=output, uuid=uid).first()
    if comment is None:
        raise Http404
    if comment.author_id != user.pk:
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


def replies_of(run: Run, refs: Sequence[str]) -> dict[str, ModelCall]:
    """The kept replies of these names, as far as they are those of the run's own team."""
    keys = {int(ref) for ref in refs if ref.isascii() and ref.isdecimal() and len(ref) < 19}
    found = ModelCall.objects.filter(team=run.team_id, pk__in=keys) if keys else ()
    return {str(call.pk): call for call in found}


def scorer_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Scorer:
    """A scorer with its team and current version joined."""
    found = Scorer.objects.visible_to(user).select_related("team", "current")
    return _opened(user, found, uid, role)


def suite_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Suite:
    """A suite with its team joined and its entries' scorers prefetched."""
    found = Suite.objects.visible_to(user).select_related("team")
    return _opened(user, found.prefetch_related("entries__scorer__current"), uid, role)


def connection_for(user: User, slug: str, uid: uuid.UUID) -> Connection:
    """A connection with its team joined; only the team's admins get at one."""
    team = team_for(user, slug, Role.ADMIN)
    found = Connection.objects.filter(team=team, uuid=uid).select_related("team").first()
    if found is None:
        raise Http404
    return found


def alert_rule_for(user: User, uid: uuid.UUID, role: Role = Role.ADMIN) -> AlertRule:
    """An alert rule with its team and dataset joined."""
    joined = ("team", "dataset__team", "created_by")
    found = AlertRule.objects.visible_to(user).select_related(*joined)
    return _opened(user, found, uid, role)


def deleted_alert_rule_for(user: User, uid: uuid.UUID) -> AlertRule:
    """A deleted rule that an admin may bring back, with its team and dataset joined."""
    found = AlertRule.with_deleted.deleted().visible_to(user).select_related("team", "dataset")
    return _opened(user, found, uid, Role.ADMIN)


def alert_for(user: User, uid: uuid.UUID, role: Role = Role.VIEWER) -> Alert:
    """An alert with its rule, its team and its dataset joined."""
    alert = Alert.objects.visible_to(user).for_list().filter(uuid=uid).first()
    if alert is None:
        raise Http404
    if role > Role.VIEWER:
        _with_role(_member(user, models.Q(team=alert.rule.team_id)), role)
    return alert


def errand_for(user: User, uid: uuid.UUID, role: Role) -> Errand:
    """What a page has asked of the worker, with its team joined."""
    return _opened(user, Errand.objects.visible_to(user).select_related("team"), uid, role)


def saved_view_for(user: User, run: Run, uid: uuid.UUID) -> SavedView:
    """A view of the run's team that the person may remove: an own one, or as an editor a shared."""
    found = SavedView.objects.for_person(user, run.team).select_related("team")
    view = found.filter(uuid=uid).first()
    if view is None:
        raise Http404
    if view.owner_id is None:
        _with_role(_member(user, models.Q(team=run.team_id)), Role.EDITOR)
    return view


def upload_for(user: User, uid: uuid.UUID, role: Role = Role.EDITOR) -> Upload:
    """An upload with its team and dataset joined."""
    found = Upload.objects.visible_to(user).select_related("team", "dataset", "version__dataset")
    return _opened(user, found, uid, role)


def _opened(user: User, found: models.QuerySet[Row], uid: uuid.UUID, role: Role) -> Row:
    row = found.filter(uuid=uid).first()
    if row is None:
        raise Http404
    if role > Role.VIEWER:
        _with_role(_member(user, models.Q(team=cast("Run", row).team_id)), role)
    return row


def _member(user: User, team: models.Q) -> Member:
    teams = Team.objects.of(user)
    member = Member.objects.select_related("team").filter(team, user=user, team__in=teams).first()
    if member is None:
        raise Http404
    return _as_signed_in(member, user)


def _as_signed_in(member: Member, user: User) -> Member:
    member.user = user  # it may carry the token that narrows the role
    return member


def _with_role(member: Member, role: Role) -> Member:
    if not member.may(role):
        raise PermissionDenied(
            f"This needs the role {role.label}; yours is {member.held_role.label}."
        )
    return member
