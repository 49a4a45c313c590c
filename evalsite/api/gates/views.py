"""The gates of a run, checked without a build."""

from __future__ import annotations

import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.compare.serializers import WaitingShape
from evalsite.api.compare.views import RETRY_SECONDS, check_runs, not_comparable
from evalsite.api.errors import field_problem
from evalsite.api.gates.serializers import GateCheckShape, GateQuery
from evalsite.api.openapi.descriptions import describe
from evalsite.downloads import left_out_header
from evalsite.gate_checks import ShownCheck, check_gates_for, needs_baseline
from scoring.engine.compare.comparison import NotComparableError
from scoring.engine.compare.gates import Gate, GateError, GateLimits, parse_gate
from scoring.engine.compare.regressions import waivers_json
from scoring.engine.reports.run_summary import gate_json, stamps_json
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Run


class RunGate(ApiView):
    """Conditions that a run must meet."""

    serializer_class = GateCheckShape

    @describe(parameters=[GateQuery], responses={200: GateCheckShape, 202: WaitingShape})
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """What `evaluate --gate` says of the run; large runs are compared by the worker first.

        Waivers count as of today. 409 for a run that has not ended.
        """
        run = access.run_for(self.user, uid)
        wanted = self.parse_query(request, GateQuery).validated_data
        gates = _parse(wanted["gate"])
        try:
            shown = check_gates_for(
                self.user,
                run,
                self._find_baseline(run, gates, wanted["baseline"]),
                gates,
                GateLimits(wanted["max_errors"], wanted["min_drop"]),
            )
        except NotComparableError as fault:
            raise not_comparable(fault, "baseline") from None
        except GateError as fault:
            raise field_problem(422, "gate", "unknown_scorer", str(fault)) from None
        if shown is None:
            return Response({"state": "waiting"}, 202, headers={"Retry-After": str(RETRY_SECONDS)})
        return Response(_body(shown), headers=left_out_header(shown.left_out))

    def _find_baseline(self, run: Run, gates: list[Gate], uid: uuid.UUID | None) -> Run | None:
        if uid is None:
            return run_baseline(run) if needs_baseline(gates) else None
        baseline = self.look_up("baseline", uid, access.run_for)
        check_runs(baseline, run)
        return baseline


def _parse(texts: list[str]) -> list[Gate]:
    """Raises the problem of the first text that is no gate."""
    gates = []
    for number, text in enumerate(texts):
        try:
            gates.append(parse_gate(text))
        except GateError as fault:
            raise field_problem(422, f"gate[{number}]", "bad_gate", str(fault)) from None
    return gates


def _body(shown: ShownCheck) -> dict[str, Any]:
    check, regressions = shown.check, shown.check.regressions
    return {
        "state": check.state,
        "run": str(check.run.uuid),
        "baseline": str(check.baseline.uuid) if check.baseline else None,
        "gates": [gate_json(outcome) for outcome in check.outcomes],
        "broke": regressions.broke if regressions else None,
        "regressions": regressions.unwaived if regressions else None,
        "regressions_unknown": regressions.as_json() if regressions else None,
        "waivers": waivers_json(shown.waivers) if regressions else None,
        "warnings": list(regressions.warnings) if regressions else [],
        "stamps": stamps_json(check.run, check.outcomes),
    }
