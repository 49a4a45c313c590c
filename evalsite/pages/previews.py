"""*On a past run*: what a scorer's unsaved config would say of cases that a run has scored."""

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

from evalsite.access import errand_for, runs_for
from evalsite.pages.estimates import Foresight, foresight
from evalsite.pages.forms.scorers import ScorerForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import reading
from evalsite.pages.underway import Underway, underway_of
from scoring.core.bound import bind
from scoring.core.contract import ConfigError, Result, ServiceError
from scoring.engine import preview
from scoring.engine.preview import Config, Row, Sample
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Errand, ErrandKind, Role, Run, RunScorer, User

#: What a request for a preview says of itself, in the parameter `preview`: show what there is to
#: show at once, or let the worker ask models.
NOW, ASK = "now", "ask"
RUNS: Final = 30  # to choose from
NOTHING: Final = Sample(())
TOO_MANY: Final = "One of your previews is still under way. Wait until it has ended."


@dataclass(frozen=True)
class Line:
    """A row with the address of its case."""

    row: Row
    url: str


@dataclass(frozen=True)
class Previewed:
    """What came of a preview: cases before and after, or what stands in its way.

    `saved` names the version that `before` comes from; "" where there is nothing to compare with.
    """

    run: Run
    config: Config
    sample: Sample = NOTHING
    rows: Sequence[Row] = ()
    saved: str = ""
    problems: Sequence[tuple[str, str]] = ()
    notice: str = ""
    foresight: Foresight | None = None
    errand: Errand | None = None

    @cached_property
    def underway(self) -> Underway | None:
        """None where nothing is waited for."""
        return underway_of(self.errand)

    def lines(self) -> Iterator[Line]:
        """The cases to be looked at: those that differ, or all where nothing is compared."""
        rows = (row for row in self.rows if not self.saved or row.is_flipped or row.is_changed)
        yield from map(self._line, rows)

    def same(self) -> list[Line]:
        """The cases that stay as they are."""
        rows = (row for row in self.rows if not (row.is_flipped or row.is_changed))
        return [self._line(row) for row in rows] if self.saved else []

    def _line(self, row: Row) -> Line:
        path = reverse("run_case", args=[self.run.uuid, row.position])
        return Line(row, f"{path}?trial={row.trial}" if row.trial else path)

    @property
    def flips(self) -> int:
        return sum(row.is_flipped for row in self.rows)

    def kinds_of_flips(self) -> Iterator[str]:
        """As "3 pass → fail", the most frequent first."""
        counted = Counter(row.words for row in self.rows if row.is_flipped)
        for (old, new), count in counted.most_common():
            yield f"{count} {old} → {new}"

    @property
    def changed(self) -> int:
        """How many scores are others, whatever their verdicts."""
        return sum(row.is_changed for row in self.rows)

    def verdicts(self) -> Iterator[str]:
        counted = Counter(row.words[1] for row in self.rows)
        yield from (f"{count} {word}" for word, count in counted.most_common())


class PreviewPanel:
    """The panel under a scorer's form: which run, and what came of it."""

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
        """The team's latest runs, those first that have the scorer."""
        joined = "output_set__version__dataset"
        ended = Run.objects.filter(team=self._form.team).ended().select_related(joined)
        mine = ended.filter(scorers__version__scorer=self._form.scorer) if self._form.scorer else ()
        held = list(mine.order_by("-pk")[:RUNS]) if mine else []
        others = ended.exclude(pk__in=[run.pk for run in held]).order_by("-pk")[:RUNS]
        groups = [("Scored by this scorer", held), ("Other runs" if held else "Runs", list(others))]
        return [
            (name, [(str(run.uuid), _named(run)) for run in runs]) for name, runs in groups if runs
        ]

    @property
    def chosen(self) -> str:
        return str(self._posted.get("preview-run", ""))

    @cached_property
    def previewed(self) -> Previewed | None:
        """None where nothing was asked for."""
        return self._previewed() if self.is_wanted else None

    def _previewed(self) -> Previewed:
        form, run = self._form, self._run()
        form.forgo_name()
        config = Config(form.kind.name, {}, 0.0)
        if form.is_valid():
            try:
                config = Config(form.kind.name, form.config(), form.effective_threshold())
                return self._of(run, config)
            except ConfigError as problem:
                form.show_errors(problem)
            except ServiceError as fault:
                return Previewed(run, config, notice=f"No preview: {fault.text}.")
        problems = [(problem.label, problem.text) for problem in form.problems()]
        return Previewed(run, config, problems=problems)

    def _run(self) -> Run:
        try:
            (run,) = runs_for(self._user, self._form.team, [uuid.UUID(self.chosen)])
        except (ValueError, ValidationError):
            raise Http404 from None
        if run.is_unfinished:
            raise Http404
        return run

    def _of(self, run: Run, config: Config) -> Previewed:
        held = preview.held_in(run, self._form.scorer)
        config = config._replace(threshold=held.threshold if held else config.threshold)
        sample = preview.sample_of(run, held)
        is_asking = bind(*config).needs_services
        if not sample.outputs:
            return Previewed(run, config, sample, notice="The run has no output to score.")
        if is_asking:
            return self._asked(run, config, sample, held)
        after = preview.scored_now(config, sample.outputs)
        return self._compared(run, config, sample, held, after)

    def _compared(
        self, run: Run, config: Config, sample: Sample, held: RunScorer | None, after: list[Result]
    ) -> Previewed:
        scorer = self._form.scorer
        before: Sequence[Result | None] = [None] * len(after)
        saved = ""
        if held:
            before, saved = preview.scored_then(held, sample.outputs), _version_of(held)
        elif scorer and scorer.current:
            known = Config(scorer.type, scorer.current.config, scorer.threshold)
            before, saved = preview.scored_now(known, sample.outputs), "as it is saved"
        rows = preview.rows(sample, before, after)
        return Previewed(run, config, sample, rows, saved)

    def _asked(self, run: Run, config: Config, sample: Sample, held: RunScorer | None) -> Previewed:
        if self._posted["preview"] != ASK:
            found = preview.foreseen(run.team, config, sample.outputs)
            notice = f"{len(sample.outputs)} cases are scored by the worker when you say so."
            return Previewed(run, config, sample, notice=notice, foresight=foresight(judges=found))
        if not worker_is_alive():
            return Previewed(run, config, notice=f"Not scored, for there is {NO_WORKER}.")
        open_ones = Errand.objects.unfinished().filter(asked_by=self._user)
        if open_ones.filter(kind=ErrandKind.PREVIEW_SCORER).exists():
            return Previewed(run, config, notice=TOO_MANY)
        errand = preview.ask(config, run, held, sample, self._user)
        return Previewed(run, config, sample, errand=errand)


@reading
def previewed(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """What the worker found of a preview, or that it is still at it."""
    errand = errand_for(request.user, uid, Role.EDITOR)
    if errand.kind != ErrandKind.PREVIEW_SCORER:
        raise Http404
    context = {"team": errand.team, "previewed": answered(errand, request.user)}
    return show(request, "scorer/previewed.html", context, parts=["previewed"])


def answered(errand: Errand, user: User) -> Previewed:
    """What a preview shows of its errand, at whatever state that is."""
    asked: Mapping[str, Any] = errand.request
    (run,) = runs_for(user, errand.team, [uuid.UUID(asked["run"])])
    config = Config(asked["type"], asked["config"], asked["threshold"])
    sample = Sample(asked["outputs"], asked["near"], asked["left_out"])
    if errand.is_open:
        return Previewed(run, config, sample, errand=errand)
    if errand.problem:
        return Previewed(
            run, config, sample, notice=f"No preview: {errand.problem}.", errand=errand
        )
    held = run.scorers.filter(pk=asked["held"]).select_related("version").first()
    after = preview.answered(errand)
    before = preview.scored_then(held, sample.outputs) if held else [None] * len(after)
    rows = preview.rows(sample, before, after)
    return Previewed(run, config, sample, rows, _version_of(held) if held else "", errand=errand)


def _version_of(held: RunScorer) -> str:
    return f"version {held.version.number}, as the run has it"


def _named(run: Run) -> str:
    return f"{run.name} · {run.output_set.version.dataset.name} · {run.created_at:%-d %b %Y}"
