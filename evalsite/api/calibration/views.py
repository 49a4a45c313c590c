"""The calibration of a run's scorers."""

from __future__ import annotations

import uuid

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.calibration.serializers import CalibrationShape
from evalsite.blind_review import blind_outputs
from scoring.engine.calibration.report import calibration_report


class RunCalibration(ApiView):
    """The scorers of a run against people's reviews."""

    serializer_class = CalibrationShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Agreement, kappa and best threshold of each scorer, and corrected pass rates."""
        run = access.run_for(self.user, uid)
        return Response(calibration_report(run, blind_outputs(self.user, run)))
