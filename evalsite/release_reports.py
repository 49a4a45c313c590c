"""Who gets the release report of a run, and as what file, for pages and API alike."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from evalsite.blind_review import blind_pairs
from scoring.engine.reports.release_report import ReportFile
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Run, RunState, User


class ReportRefusedError(Exception):
    """Why there is no report, and what to do; `code` is stable."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def find_report_baseline(user: User, run: Run) -> Run:
    """The baseline that the run's report compares it with. Raises ReportRefusedError.

    A report carries the verdicts and scores of all outputs, so nobody gets it who is yet to review
    one of them; without these rows it could not be verified.
    """
    if run.state != RunState.FINISHED:
        text = f"The run is {run.state}: a release report needs a finished run."
        raise ReportRefusedError("run_unfinished", text)
    baseline = run_baseline(run)
    if baseline is None:
        text = "The series has no earlier finished run: a release report needs a baseline."
        raise ReportRefusedError("no_baseline", text)
    if count := len(blind_pairs(user, baseline, run).candidate):
        outputs = "1 case" if count == 1 else f"{count:,} cases"
        text = f"The release report shows the verdicts of all cases: review {outputs} first."
        raise ReportRefusedError("not_reviewed_yet", text)
    return baseline


def report_response(file: ReportFile) -> HttpResponse:
    """The file as an attachment, which no browser opens under the site's address and none keeps."""
    response = HttpResponse(file.content, content_type=file.content_type)
    response["Content-Disposition"] = content_disposition_header(True, file.name) or "attachment"
    response["Cache-Control"] = "private, no-store"
    return response
