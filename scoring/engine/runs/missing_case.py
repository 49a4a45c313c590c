"""Why a run has nothing to show of a case that another run of its dataset has."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from scoring.models import Case, Output, Run


def missing_case_reason(run: Run, key: str, trial: int) -> str:
    """A sentence on why the run has no verdict on this trial of the case; one query."""
    version = run.output_set.version
    outputs = Output.objects.filter(output_set=run.output_set_id, case=OuterRef("pk"), trial=trial)
    cases = Case.objects.filter(version=version, key=key).annotate(has_output=Exists(outputs))
    has_output = cases.values_list("has_output", flat=True).first()
    if has_output is None:
        return f"{run.name} is over v{version.number} of the dataset, which lacks this case."
    if not has_output:
        case = f"trial {trial} of this case" if trial else "this case"
        return f"{run.name} has no output for {case}."
    return f"{run.name} was cancelled before this case was scored."
