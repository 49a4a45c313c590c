"""*On a past run*: how an unsaved config scores cases that a run has scored already."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.urls import reverse

from evalsite.access import job_for, runs_for
from evalsite.blind_review import blind_outputs
from evalsite.pages.scorers.forms import ScorerForm
from evalsite.pages.web.cost_estimates import TotalCostEstimate, combine_estimates
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.job_status import JobStatus, open_job_status
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.configured import configure_scorer
from scoring.core.contract import ConfigError, Result, ServiceError
from scoring.core.scorers.selection import TargetConfig
from scoring.engine.runs.progress import find_worker_problem
from scoring.engine.tryout import preview
from scoring.engine.tryout.preview import Config, Row, Sample
from scoring.models import Job, JobKind, Role, Run, RunScorer, User, WorkQueue

#: Values of the parameter `preview`: score at once what needs no model, or let the worker score.
NOW, ASK = "now", "ask"
RUNS: Final = 30  # to choose from
NOTHING: Final = Sample(())
TOO_MANY: Final = "One of your previews is still under way. Wait until it has ended."


@dataclass(frozen=True)
class PreviewCase:
    """A row with the link to its case."""

    row: Row
    url: str


@dataclass(frozen=True)
class Preview:
    """The result of a preview: cases before and after, or why there are none.

    `saved` names the version that `before` comes from; "" if there is nothing to compare with.
    """

    run: Run
    config: Config
    sample: Sample = NOTHING
    rows: Sequence[Row] = ()
    saved: str = ""
    problems: Sequence[tuple[str, str]] = ()
    notice: str = ""
    cost_estimate: TotalCostEstimate | None = None
    job: Job | None = None

    @cached_property
    def job_status(self) -> JobStatus | None:
        """The progress of the preview; None unless its job is open."""
        return open_job_status(self.job)

    @cached_property
    def extracts(self) -> str:
        """What is extracted from each output, in words; "" where all of it counts."""
        config = configure_scorer(*self.config).config if self.rows else None
        extraction = config.extraction if isinstance(config, TargetConfig) else None
        return extraction.label if extraction else ""

    @cached_property
    def unextracted(self) -> list[PreviewCase]:
        """The cases whose outputs hold nothing to extract."""
        return [self._add_link(row) for row in self.rows if row.after.code == "nothing_extracted"]

    @property
    def extracted_count(self) -> int:
        return len(self.rows) - len(self.unextracted)

    def lines(self) -> Iterator[PreviewCase]:
        """The cases that change, or all without a comparison."""
        rows = (row for row in self.rows if not self.saved or row.is_flipped or row.is_changed)
        yield from map(self._add_link, rows)

    def same(self) -> list[PreviewCase]:
        """The cases that do not change."""
        rows = (row for row in self.rows if not (row.is_flipped or row.is_changed))
        return [self._add_link(row) for row in rows] if self.saved else []

    def _add_link(self, row: Row) -> PreviewCase:
        path = reverse("run_case", args=[self.run.uuid, row.position])
        return PreviewCase(row, f"{path}?trial={row.trial}" if row.trial else path)

    @property
    def flips(self) -> int:
        return sum(row.is_flipped for row in self.rows)

    def kinds_of_flips(self) -> Iterator[str]:
        """Texts such as "3 pass → fail", the most frequent first."""
        counts = Counter(row.words for row in self.rows if row.is_flipped)
        yield from (f"{count} {old} → {new}" for (old, new), count in counts.most_common())

    @property
    def changed(self) -> int:
        """How many scores change, whatever their verdicts."""
        return sum(row.is_changed for row in self.rows)

    def verdicts(self) -> Iterator[str]:
        counts = Counter(row.words[1] for row in self.rows)
        yield from (f"{count} {word}" for word, count in counts.most_common())


class PreviewPanel:
    """The panel under a scorer's form: the choice of a run, and the preview on it."""

    def __init__(self, request: SignedInRequest, form: ScorerForm) -> None:
        self._user, self._posted, self._form = request.user, request.POST, form

    @property
    def is_wanted(self) -> bool:
        return self._posted.get("preview") in {NOW, ASK}

    @property
    def status(self) -> int:
        return 422 if self.previewed and self.previewed.problems else 200

    @cached_property
    def choices(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The team's latest runs, those with the scorer first."""
        ended = Run.objects.filter(team=self._form.team).ended().order_by("-pk")
        ended = ended.select_related("output_set__version__dataset")
        scorer = self._form.scorer
        own = list(ended.filter(scorers__version__scorer=scorer)[:RUNS]) if scorer else []
        others = list(ended.exclude(pk__in=[run.pk for run in own])[:RUNS])
        groups = [("Scored by this scorer", own), ("Other runs" if own else "Runs", others)]
        return [
            (label, [(str(run.uuid), _label(run)) for run in runs])
            for label, runs in groups
            if runs
        ]

    @property
    def chosen(self) -> str:
        return str(self._posted.get("preview-run", ""))

    @cached_property
    def previewed(self) -> Preview | None:
        """None if the request asks for no preview."""
        return self._run_preview() if self.is_wanted else None

    def _run_preview(self) -> Preview:
        form, run = self._form, self._run()
        form.forgo_name()
        config = Config(form.kind.name, {}, 0.0)
        if form.is_valid():
            try:
                config = Config(form.kind.name, form.config(), form.effective_threshold())
                return self._preview(run, config)
            except ConfigError as error:
                form.show_errors(error)
            except ServiceError as error:
                return Preview(run, config, notice=f"No preview: {error.text}.")
        problems = [(problem.label, problem.text) for problem in form.problems()]
        return Preview(run, config, problems=problems)

    def _run(self) -> Run:
        try:
            (run,) = runs_for(self._user, self._form.team, [uuid.UUID(self.chosen)])
        except (ValueError, ValidationError):
            raise Http404 from None
        if run.is_unfinished:
            raise Http404
        return run

    def _preview(self, run: Run, config: Config) -> Preview:
        run_scorer = preview.find_scorer(run, self._form.scorer)
        if run_scorer:
            config = config._replace(threshold=run_scorer.threshold)
        sample = preview.sample_outputs(run, run_scorer)
        needs_services = configure_scorer(*config).needs_services
        if not sample.outputs:
            return Preview(run, config, sample, notice="The run has no output to score.")
        if needs_services:
            return self._enqueue(run, config, sample, run_scorer)
        after = preview.score_cases(config, sample.outputs, self._user)
        before: Sequence[Result | None] = [None] * len(after)
        saved, scorer = "", self._form.scorer
        if run_scorer:
            before = preview.read_results(run_scorer, sample.outputs)
            saved = _name_version(run_scorer)
        elif scorer and scorer.current:
            current = Config(scorer.type, scorer.current.config, scorer.threshold)
            before = preview.score_cases(current, sample.outputs, self._user)
            saved = "as it is saved"
        return Preview(
            run,
            config,
            sample,
            preview.make_rows(sample, before, after, blind_outputs(self._user, run)),
            saved,
        )

    def _enqueue(
        self, run: Run, config: Config, sample: Sample, run_scorer: RunScorer | None
    ) -> Preview:
        """Let the worker score the sample, once the user has seen what that will cost."""
        if self._posted["preview"] != ASK:
            estimate = preview.estimate_preview(run.team, config, sample.outputs)
            notice = f"{len(sample.outputs)} cases are scored by the worker when you say so."
            costs = combine_estimates(judges=estimate)
            return Preview(run, config, sample, notice=notice, cost_estimate=costs)
        if problem := find_worker_problem(WorkQueue.JOBS):
            return Preview(run, config, notice=f"Not scored, for there is {problem}.")
        open_jobs = Job.objects.unfinished().filter(requested_by=self._user)
        if open_jobs.filter(kind=JobKind.PREVIEW_SCORER).exists():
            return Preview(run, config, notice=TOO_MANY)
        job = preview.enqueue_preview(config, run, run_scorer, sample, self._user)
        return Preview(run, config, sample, job=job)


@get_page
def preview_result(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The result of a preview, or its progress."""
    job = job_for(request.user, uid, Role.EDITOR)
    if job.kind != JobKind.PREVIEW_SCORER:
        raise Http404
    context = {"team": job.team, "previewed": load_preview(job, request.user)}
    return render_page(request, "scorers/previewed.html", context, parts=["previewed"])


def load_preview(job: Job, user: User) -> Preview:
    """The preview of a job in any state."""
    payload: Mapping[str, Any] = job.request
    (run,) = runs_for(user, job.team, [uuid.UUID(payload["run"])])
    config = Config(payload["type"], payload["config"], payload["threshold"])
    sample = Sample(payload["outputs"], payload["near"], payload["left_out"])
    if job.is_open:
        return Preview(run, config, sample, job=job)
    if job.problem:
        return Preview(run, config, sample, notice=f"No preview: {job.problem}.", job=job)
    run_scorer = run.scorers.filter(pk=payload["held"]).select_related("version").first()
    after = preview.job_results(job)
    before: Sequence[Result | None] = [None] * len(after)
    saved = ""
    if run_scorer:
        before, saved = preview.read_results(run_scorer, sample.outputs), _name_version(run_scorer)
    return Preview(
        run,
        config,
        sample,
        preview.make_rows(sample, before, after, blind_outputs(user, run)),
        saved,
        job=job,
    )


def _name_version(run_scorer: RunScorer) -> str:
    return f"version {run_scorer.version.number}, as the run has it"


def _label(run: Run) -> str:
    return f"{run.name} · {run.output_set.version.dataset.name} · {run.created_at:%-d %b %Y}"
