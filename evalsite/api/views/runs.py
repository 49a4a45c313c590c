"""Runs: made with their outputs, followed, started, cancelled and retried."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.bodies import Body
from evalsite.api.described import described
from evalsite.api.examples import ACCEPTED, MORE_OUTPUTS, RUN, STARTED, answered, sent
from evalsite.api.idempotency import idempotent
from evalsite.api.problems import Fault, Problem, missing, of_faults
from evalsite.api.serializers.runs import (
    AcceptedShape,
    MoreOutputs,
    NewRun,
    RunShape,
    StartedShape,
    StateShape,
    page_of,
    state_of,
)
from evalsite.api.views.base import ApiView, ListView
from evalsite.api.views.scorers import named_scorers
from scoring.core.contract import ConfigError
from scoring.engine import loading, plan
from scoring.engine.generate import Recipe, planned_outputs
from scoring.engine.progress import progress_of
from scoring.engine.recipe import check
from scoring.models import (
    Connection,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Role,
    Run,
    Scorer,
    Suite,
    User,
)

NOTHING: Final = loading.Stored(0, [], 0)  # sent, where the run makes its outputs

Chosen = tuple[Suite | None, list[tuple[Scorer, float]]]


class RunList(ListView):
    """The team's runs."""

    serializer_class = RunShape

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.filter(team=self.team()).for_list()

    def get(self, request: Request) -> Response:
        return self.list(request)

    @described(
        request=NewRun,
        responses={202: StartedShape},
        examples=[sent(RUN), answered(STARTED, 202)],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Send outputs, or have them made, and scored by a suite or by scorers of your choice."""
        wanted = self.read(NewRun)
        version = self._version(wanted["dataset"])
        suite, scorers = self._chosen(wanted, version.dataset)
        recipe = _recipe(wanted, version)
        outputs: list[Any] = wanted.get("outputs", [])
        with transaction.atomic():
            output_set = _new_set(version, wanted, self.user, recipe)
            stored = loading.store_outputs(output_set, outputs) if recipe is None else NOTHING
            run = plan.new_run(
                output_set,
                suite=suite,
                scorers=scorers,
                name=wanted.get("name", ""),
                by=self.user,
                budget_usd=wanted.get("budget_usd"),
            )
            if wanted.get("final", "outputs" in wanted):
                _start(run)
        unmatched = {"unmatched": stored.unmatched} if stored.unmatched else {}
        return Response({**_started(request, run), **unmatched}, 202)

    def _version(self, uid: uuid.UUID) -> DatasetVersion:
        """The dataset's latest version."""
        dataset = self.named("dataset", uid, partial(access.dataset_for, role=Role.EDITOR))
        version = dataset.latest
        if version is None:
            text = "The dataset is still loading. Ask for it again until it is ready."
            raise Problem(409, "dataset_loading", text, object_id=uid, retry_after=1)
        version.dataset = dataset
        return version

    def _chosen(self, wanted: dict[str, Any], dataset: Dataset) -> Chosen:
        """The suite or the scorers to score with: the body's, else the dataset's own suite."""
        if "suite" in wanted and "scorers" in wanted:
            raise _unusable("scorers", "suite_or_scorers", "Name a suite or scorers, not both.")
        if "scorers" in wanted:
            scorers = named_scorers(dataset.team, wanted["scorers"], "scorers[{}]")
            return None, [(scorer, scorer.threshold) for scorer in scorers]
        if "suite" in wanted:
            return self._suite(wanted["suite"], dataset), []
        if dataset.suite is None:
            text = "The dataset has no suite of its own. Name a suite or scorers."
            raise _unusable("suite", "suite_required", text)
        return dataset.suite, []

    def _suite(self, uid: uuid.UUID, dataset: Dataset) -> Suite:
        suite = self.named("suite", uid, access.suite_for)
        if suite.team_id != dataset.team_id:
            raise missing("suite")
        return suite


class RunDetail(ApiView):
    """One run."""

    serializer_class = StateShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """How far the run is, why it stands still, and its figures once it has ended."""
        return Response(state_of(access.run_for(self.user, uid)))


class RunOutputs(ApiView):
    """The outputs of a run that is not yet started."""

    @described(
        request=MoreOutputs,
        responses=AcceptedShape,
        examples=[sent(MORE_OUTPUTS), answered(ACCEPTED)],
    )
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Add up to 10,000 outputs, all of them or none."""
        run = access.run_for(self.user, uid, Role.EDITOR)
        wanted = self.read(MoreOutputs)
        with transaction.atomic():
            stored = _add(run, wanted["outputs"])
            if wanted["final"]:
                _start(run)
        return Response({"accepted": stored.accepted, "unmatched": stored.unmatched})


class RunAction(ApiView):
    """Something done to a run, after which its state is shown."""

    def act(self, run: Run) -> None:
        raise NotImplementedError

    @described(request=None, responses=StateShape)
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        run = access.run_for(self.user, uid, Role.EDITOR)
        self.read(Body)  # nothing is taken, and what is sent all the same is refused
        self.act(run)
        return Response(state_of(run))


class RunStart(RunAction):
    """Says that all outputs are there. Starting twice starts once."""

    def act(self, run: Run) -> None:
        if run.is_unfinished and run.output_set.state == OutputSetState.LOADING:
            _start(run)


class RunCancel(RunAction):
    """Ends the run; what is scored stays. A run that has ended stays as it is."""

    def act(self, run: Run) -> None:
        plan.cancel(run, self.user)


class RunRetry(RunAction):
    """Scores the errors of a finished run again, and goes on with a cancelled one."""

    def act(self, run: Run) -> None:
        if plan.retry_errors(run, self.user) is None and not plan.resume(run, self.user):
            text = "The run is not cancelled and has no errors to score again."
            raise Problem(409, "nothing_to_retry", text, object_id=run.uuid)


def _recipe(wanted: dict[str, Any], version: DatasetVersion) -> Recipe | None:
    """How the outputs are to be made; None where they are sent."""
    asked: dict[str, Any] | None = wanted.get("generate")
    if asked is None:
        return None
    if "outputs" in wanted or "final" in wanted:
        text = "The run makes its outputs. Send none, and no `final`."
        raise _unusable("generate", "outputs_or_generate", text)
    named = asked.get("connection")
    connection = Connection.objects.filter(team=version.dataset.team, name=named).first()
    if named is not None and connection is None:
        text = f"The team has no connection called {named}. Name another one, or leave it out."
        raise _unusable("generate.connection", "not_found", text)
    recipe = Recipe(**asked | {"connection": connection})
    try:
        check(recipe)
    except ConfigError as fault:
        raise of_faults(422, list(_recipe_faults(fault))) from None
    return recipe


def _recipe_faults(fault: ConfigError) -> Iterator[Fault]:
    for name, texts in fault.errors.items():
        for text in texts:
            yield Fault(f"generate.{name}", "config_error", text)


def _new_set(
    version: DatasetVersion, wanted: dict[str, Any], by: User, recipe: Recipe | None
) -> OutputSet:
    if recipe is not None:
        named = ("name", "series", "labels", "dated")
        described = {name: wanted[name] for name in named if name in wanted}
        return planned_outputs(version, recipe, by=by, **described)
    labels, name = wanted.get("labels", {}), wanted.get("name", "")
    series = wanted.get("series") or labels.get("model") or name or version.dataset.name
    given = {name: wanted[name] for name in ("labels", "dated") if name in wanted}
    return OutputSet.objects.create(
        version=version,
        name=name,
        series=str(series)[:120],
        created_by=by,
        **given,
    )


def _add(run: Run, outputs: Sequence[Any]) -> loading.Stored:
    try:
        if run.is_unfinished:
            return loading.store_outputs(run.output_set, outputs)
    except loading.StoppedError:
        pass
    text = "The run has been started and takes no more outputs. Make another run."
    raise Problem(409, "already_started", text, object_id=run.uuid)


def _start(run: Run) -> None:
    if not Output.objects.filter(output_set=run.output_set).exists():
        raise _unusable("outputs", "no_outputs", "The run has no outputs. Send some first.")
    loading.close_outputs(run.output_set)


def _started(request: Request, run: Run) -> dict[str, Any]:
    done, total, *_ = progress_of(run)
    return {
        "id": str(run.uuid),
        "state": run.state,
        "progress": {"done": done, "total": total},
        "url": page_of(request, run),
    }


def _unusable(field: str, code: str, text: str) -> Problem:
    return of_faults(422, [Fault(field, code, text)])
