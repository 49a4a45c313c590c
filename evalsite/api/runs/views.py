"""Runs: made with their outputs, followed, started, cancelled and retried."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Fault, Problem, field_problem, missing_problem, validation_problem
from evalsite.api.fields import BodySerializer
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import (
    ACCEPTED,
    MORE_OUTPUTS,
    RUN,
    STARTED,
    request_example,
    response_example,
)
from evalsite.api.runs.serializers import (
    AcceptedShape,
    MoreOutputs,
    NewRun,
    RunShape,
    StartedShape,
    StateShape,
    page_url,
    state_body,
)
from evalsite.api.scorers.views import named_scorers
from scoring.core.contract import ConfigError
from scoring.engine import imports
from scoring.engine.outputs.generation import OutputRecipe, create_output_set
from scoring.engine.outputs.output_recipe import check_recipe
from scoring.engine.runs import planning
from scoring.engine.runs.progress import run_progress
from scoring.engine.thresholds.relabelling import (
    NothingToRelabelError,
    relabel_run,
    remove_labels,
)
from scoring.models import (
    Connection,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Role,
    Run,
    Scope,
    Scorer,
    Suite,
    User,
)

NOTHING: Final = imports.StoredRows(0, [], 0, {})  # sent, where the run makes its outputs

Chosen = tuple[Suite | None, list[tuple[Scorer, float]]]


class RunList(ListView):
    """The team's runs."""

    scope = Scope.UPLOAD
    serializer_class = RunShape

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.filter(team=self.team()).for_list()

    @describe(
        request=NewRun,
        responses={202: StartedShape},
        examples=[request_example(RUN), response_example(STARTED, 202)],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Send outputs, or have them made, and scored by a suite or by scorers of your choice."""
        wanted = self.parse_body(NewRun)
        version = self._version(wanted["dataset"])
        suite, scorers = self._chosen(wanted, version.dataset)
        recipe = _recipe(wanted, version)
        outputs: list[Any] = wanted.get("outputs", [])
        with transaction.atomic():
            output_set = _new_set(version, wanted, self.user, recipe)
            stored = imports.store_outputs(output_set, outputs) if recipe is None else NOTHING
            run = planning.create_run(
                output_set,
                suite=suite,
                scorers=scorers,
                name=wanted.get("name", ""),
                by=self.user,
                budget_usd=wanted.get("budget_usd"),
            )
            if wanted.get("final", "outputs" in wanted):
                _start(run, self.user)
        unmatched = _unmatched_body(stored) if stored.unmatched else {}
        return Response({**_started(request, run), **unmatched}, 202)

    def _version(self, uid: uuid.UUID) -> DatasetVersion:
        """The dataset's latest version."""
        dataset = self.look_up("dataset", uid, partial(access.dataset_for, role=Role.EDITOR))
        version = dataset.latest
        if version is None:
            text = "The dataset is still loading. Ask for it again until it is ready."
            raise Problem(409, "dataset_loading", text, object_id=uid, retry_after=1)
        version.dataset = dataset
        return version

    def _chosen(self, wanted: dict[str, Any], dataset: Dataset) -> Chosen:
        """The suite or the scorers to score with: the body's, else the dataset's own suite."""
        if "suite" in wanted and "scorers" in wanted:
            raise field_problem(
                422, "scorers", "suite_or_scorers", "Name a suite or scorers, not both."
            )
        if "scorers" in wanted:
            scorers = named_scorers(dataset.team, wanted["scorers"], "scorers[{}]")
            return None, [(scorer, scorer.threshold) for scorer in scorers]
        if "suite" in wanted:
            return self._suite(wanted["suite"], dataset), []
        if dataset.suite is None:
            text = "The dataset has no suite of its own. Name a suite or scorers."
            raise field_problem(422, "suite", "suite_required", text)
        return dataset.suite, []

    def _suite(self, uid: uuid.UUID, dataset: Dataset) -> Suite:
        suite = self.look_up("suite", uid, access.suite_for)
        if suite.team_id != dataset.team_id:
            raise missing_problem("suite")
        return suite


class RunDetail(ApiView):
    """One run."""

    serializer_class = StateShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """How far the run is, why it stands still, and its figures once it has ended."""
        return Response(state_body(access.run_for(self.user, uid)))


class RunOutputs(ApiView):
    """The outputs of a run that is not yet started."""

    scope = Scope.UPLOAD

    @describe(
        request=MoreOutputs,
        responses=AcceptedShape,
        examples=[request_example(MORE_OUTPUTS), response_example(ACCEPTED)],
    )
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Add up to 10,000 outputs, all of them or none."""
        run = access.run_for(self.user, uid, Role.EDITOR)
        wanted = self.parse_body(MoreOutputs)
        with transaction.atomic():
            stored = _add(run, wanted["outputs"])
            if wanted["final"]:
                _start(run, self.user)
        return Response({"accepted": stored.accepted, **_unmatched_body(stored)})


class RunAction(ApiView):
    """Something done to a run, after which its state is shown."""

    scope = Scope.SCORE

    def act(self, run: Run) -> None:
        raise NotImplementedError

    @describe(request=None, responses=StateShape)
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        run = access.run_for(self.user, uid, Role.EDITOR)
        self.parse_body(
            BodySerializer
        )  # nothing is taken, and what is sent all the same is refused
        self.act(run)
        return Response(state_body(run))


class RunStart(RunAction):
    """Says that all outputs are there. Starting twice starts once."""

    scope = Scope.UPLOAD

    def act(self, run: Run) -> None:
        if run.is_unfinished and run.output_set.state == OutputSetState.LOADING:
            _start(run, self.user)


class RunCancel(RunAction):
    """Ends the run; what is scored stays. A run that has ended stays as it is."""

    def act(self, run: Run) -> None:
        planning.cancel_run(run, self.user)


class RunRetry(RunAction):
    """Scores the errors of a finished run again, and goes on with a cancelled one."""

    def act(self, run: Run) -> None:
        if planning.retry_errors(run, self.user) is None and not planning.resume_run(
            run, self.user
        ):
            text = "The run is not cancelled and has no errors to score again."
            raise Problem(409, "nothing_to_retry", text, object_id=run.uuid)


class RunRelabel(ApiView):
    """The later labels of a run, by the thresholds that its suite has now."""

    scope = Scope.ADMIN

    @describe(request=None, responses=StateShape)
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Label a finished run by its suite's present thresholds; admins may.

        Nothing is scored. Scores and stored verdicts stay, and everything else uses those.
        """
        run = access.run_for(self.user, uid, Role.ADMIN)
        self.parse_body(BodySerializer)
        try:
            relabel_run(run, by=self.user)
        except NothingToRelabelError as refused:
            raise Problem(409, "nothing_to_relabel", str(refused), object_id=run.uuid) from None
        return Response(state_body(run))

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Remove the later labels, if there are any; admins may."""
        remove_labels(access.run_for(self.user, uid, Role.ADMIN), by=self.user)
        return Response(status=204)


def _recipe(wanted: dict[str, Any], version: DatasetVersion) -> OutputRecipe | None:
    """How the outputs are to be made; None where they are sent."""
    sent: dict[str, Any] | None = wanted.get("generate")
    if sent is None:
        return None
    if "outputs" in wanted or "final" in wanted:
        text = "The run makes its outputs. Send none, and no `final`."
        raise field_problem(422, "generate", "outputs_or_generate", text)
    name = sent.get("connection")
    connection = Connection.objects.filter(team=version.dataset.team, name=name).first()
    if name is not None and connection is None:
        text = f"The team has no connection called {name}. Name another one, or leave it out."
        raise field_problem(422, "generate.connection", "not_found", text)
    recipe = OutputRecipe(**sent | {"connection": connection})
    try:
        check_recipe(recipe)
    except ConfigError as fault:
        faults = [
            Fault(f"generate.{name}", "config_error", text)
            for name, texts in fault.errors.items()
            for text in texts
        ]
        raise validation_problem(422, faults) from None
    return recipe


def _new_set(
    version: DatasetVersion, wanted: dict[str, Any], by: User, recipe: OutputRecipe | None
) -> OutputSet:
    if recipe is not None:
        fields = ("name", "series", "labels", "dated")
        options = {field: wanted[field] for field in fields if field in wanted}
        return create_output_set(version, recipe, by=by, **options)
    labels, name = wanted.get("labels", {}), wanted.get("name", "")
    series = wanted.get("series") or labels.get("model") or name or version.dataset.name
    options = {field: wanted[field] for field in ("labels", "dated") if field in wanted}
    return OutputSet.objects.create(
        version=version, name=name, series=str(series)[:120], created_by=by, **options
    )


def _add(run: Run, outputs: Sequence[Any]) -> imports.StoredRows:
    try:
        if run.is_unfinished:
            return imports.store_outputs(run.output_set, outputs)
    except imports.StoppedError:
        pass
    text = "The run has been started and takes no more outputs. Make another run."
    raise Problem(409, "already_started", text, object_id=run.uuid)


def _unmatched_body(stored: imports.StoredRows) -> dict[str, Any]:
    near = {"did_you_mean": stored.near_keys} if stored.near_keys else {}
    return {"unmatched": stored.unmatched, **near}


def _start(run: Run, by: User) -> None:
    if not Output.objects.filter(output_set=run.output_set).exists():
        raise field_problem(
            422, "outputs", "no_outputs", "The run has no outputs. Send some first."
        )
    imports.close_outputs(run.output_set, by)


def _started(request: Request, run: Run) -> dict[str, Any]:
    done, total, *_ = run_progress(run)
    return {
        "id": str(run.uuid),
        "state": run.state,
        "progress": {"done": done, "total": total},
        "url": page_url(request, run),
    }
