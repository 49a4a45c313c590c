"""Datasets and their versions, from JSON bodies and from files."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import Http404, QueryDict
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api import errors as api_errors
from evalsite.api.base import ApiView, ListView
from evalsite.api.datasets.serializers import (
    DatasetShape,
    NewDataset,
    NewDatasetFile,
    NewVersion,
    VersionShape,
    upload_body,
)
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import DATASET, DATASET_MADE, request_example, response_example
from evalsite.api.parsers import BoundedMultiPart, StrictJson
from scoring.core.files import FileProblem
from scoring.core.files.xlsx import CellReading
from scoring.engine import imports
from scoring.models import (
    Dataset,
    DatasetVersion,
    Role,
    Scope,
    Team,
    Upload,
    UploadKind,
    UploadState,
)

_OPTIONS = ("encoding", "delimiter", "skip_lines", "sheet", *CellReading._fields)
_ENDED_BADLY = (UploadState.FAILED, UploadState.CANCELLED)


class DatasetList(ListView):
    """The team's datasets."""

    scope = Scope.UPLOAD
    serializer_class = DatasetShape
    parser_classes = [StrictJson, BoundedMultiPart]

    def get_queryset(self) -> QuerySet[Dataset]:
        return Dataset.objects.published().filter(team=self.team()).select_related("latest")

    @describe(
        request={"application/json": NewDataset, "multipart/form-data": NewDatasetFile},
        responses={
            201: DatasetShape,
            202: OpenApiResponse(
                DatasetShape, "A file is being loaded; ask for the dataset again."
            ),
        },
        examples=[request_example(DATASET), response_example(DATASET_MADE, 201)],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a dataset of up to 10,000 cases, or of a file."""
        team = self.team(Role.EDITOR)
        if isinstance(request.data, QueryDict):
            return self._load_file(team, self.parse_body(NewDatasetFile))
        wanted = self.parse_body(NewDataset)
        with transaction.atomic():
            dataset = _new_dataset(team, wanted["name"], self.user)
            imports.store_cases(team, dataset.name, wanted["cases"], by=self.user)
        dataset.refresh_from_db()
        return Response(DatasetShape(dataset).data, 201)

    def _load_file(self, team: Team, wanted: dict[str, Any]) -> Response:
        name, choices = wanted["name"], wanted.get("mapping", {})
        upload = imports.store_upload(
            team, wanted["file"], kind=UploadKind.DATASET, by=self.user, dataset_name=name
        )
        options = {name: wanted[name] for name in _OPTIONS if wanted.get(name)}
        try:
            _check_mapping(upload, choices, options)
            with transaction.atomic():
                dataset = _new_dataset(team, name, self.user)
                # It goes by the dataset's id, so that whoever asks learns how it ended.
                upload.uuid, upload.dataset, upload.mapping = dataset.uuid, dataset, choices
                upload.detected = options
                upload.save()
                imports.request_load(upload, skips_bad_rows=wanted.get("skip_bad_rows", False))
        except BaseException:
            imports.cancel_upload(upload)
            raise
        return Response(DatasetShape(dataset).data, 202)


class DatasetDetail(ApiView):
    """One dataset, with its latest version."""

    serializer_class = DatasetShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """The dataset; also one whose file was refused, for as long as its upload is kept."""
        try:
            return Response(_with_notes(access.dataset_for(self.user, uid)))
        except Http404:
            upload = access.upload_for(self.user, uid, Role.VIEWER)
            if upload.kind != UploadKind.DATASET or upload.state not in _ENDED_BADLY:
                raise
            return Response(upload_body(upload))


class VersionList(ListView):
    """The versions of a dataset."""

    scope = Scope.UPLOAD
    serializer_class = VersionShape
    asks_team = False

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        dataset = access.dataset_for(self.user, self.kwargs["uid"])
        return DatasetVersion.objects.filter(dataset=dataset)

    @describe(
        request=NewVersion,
        responses={201: VersionShape, 200: OpenApiResponse(VersionShape, "It was there already.")},
    )
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Make a new version of up to 10,000 cases; the same cases make no new one."""
        dataset = access.dataset_for(self.user, uid, Role.EDITOR)
        wanted = self.parse_body(NewVersion)
        loaded = imports.store_cases(dataset.team, dataset.name, wanted["cases"], by=self.user)
        return Response(VersionShape(loaded.version).data, 201 if loaded.is_new else 200)


def _new_dataset(team: Team, name: str, by: Any) -> Dataset:
    try:
        with transaction.atomic():
            return Dataset.objects.create(team=team, name=name, created_by=by)
    except IntegrityError:
        dataset = Dataset.objects.get(team=team, name=name)
        advice = "Take another name, or send the cases to its versions/."
        raise api_errors.conflict_problem(dataset, "dataset", advice) from None


def _with_notes(dataset: Dataset) -> dict[str, Any]:
    """With what its file was read as, for as long as the upload of that file is kept."""
    body = dict(DatasetShape(dataset).data)
    upload = Upload.objects.filter(team=dataset.team_id, uuid=dataset.uuid).first()
    report = upload.report if upload else {}
    told = {"check": report.get("sentences"), "notes": report.get("notes")}
    return body | {name: found for name, found in told.items() if found}


def _check_mapping(upload: Upload, choices: dict[str, list[str]], options: dict[str, Any]) -> None:
    """Raise FileProblem for a file or a mapping that cannot be used."""
    preview = imports.preview_upload(upload, choices, **options)
    detected = preview.detected
    if problem := detected.problem:
        raise FileProblem(problem.code, problem.message, line=problem.line, column=problem.column)
    preview.mapping.check(detected.columns, needed=["id|input"], is_open=detected.is_open)
