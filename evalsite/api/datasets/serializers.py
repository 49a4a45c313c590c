"""Datasets: what is sent and what is shown."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.datasets.case_serializers import NewCase
from evalsite.api.fields import BodySerializer, ManyField, NameField, TextField
from scoring.core import json_text
from scoring.core.contract import CaseProblem
from scoring.models import Dataset, DatasetVersion, Upload, UploadState

MAX_CASES = 10_000
MAX_SKIPPED = 10_000  # lines


class NewVersion(BodySerializer):
    cases = ManyField(
        child=NewCase(),
        allow_empty=False,
        most=MAX_CASES,
        beyond="Send them as a file instead.",
    )


class NewDataset(NewVersion):
    name = NameField()


class JsonText(TextField):
    """JSON inside a form's field."""

    default_error_messages = {"not_an_object": "This is not a JSON object."}

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            value = json_text.parse(text, refuse_nul=True)
        except CaseProblem as fault:
            raise serializers.ValidationError(fault.text, fault.code) from None
        if not isinstance(value, dict):
            self.fail("not_an_object")
        return {name: _columns(column) for name, column in value.items()}


def _columns(value: Any) -> list[str]:
    columns = value if isinstance(value, list) else [value]
    if not all(isinstance(column, str) for column in columns):
        text = "A field takes the name of a column, or a list of names."
        raise serializers.ValidationError(text, "invalid")
    return columns


class NewFile(BodySerializer):
    """A multipart form with a file in it."""

    file = serializers.FileField(
        max_length=255,
        allow_empty_file=True,
        help_text="CSV, TSV, JSON, JSONL or XLSX, each also .gz.",
    )
    mapping = JsonText(
        required=False,
        help_text='Which column holds what: {"input": "question", "id": "nr"}; what is left out '
        "is guessed.",
    )
    encoding = TextField(required=False, help_text="Such as cp1252; left out, what the file tells.")
    delimiter = TextField(
        required=False,
        help_text="What divides the columns of CSV, one sign or several; left out, a guess.",
    )
    skip_lines = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_SKIPPED,
        help_text="How many lines above the header are skipped.",
    )
    sheet = TextField(required=False, help_text="Of a workbook; the first unless given.")
    fill_merged = serializers.BooleanField(
        required=False, help_text="Of a workbook: merged cells have their value throughout."
    )
    skip_hidden = serializers.BooleanField(
        required=False, help_text="Of a workbook: hidden rows are left out."
    )
    as_shown = serializers.BooleanField(
        required=False,
        help_text="Of a workbook: numbers are read as Excel shows them, such as 01234 or 50%.",
    )
    skip_bad_rows = serializers.BooleanField(
        required=False, help_text="Leave bad rows out instead of refusing the file."
    )


class NewDatasetFile(NewFile):
    name = NameField()


class FaultShape(serializers.Serializer[object]):
    field = serializers.CharField(
        allow_blank=True, help_text="Where: a path in the body, a column of the file."
    )
    line = serializers.IntegerField(required=False, help_text="In an uploaded file.")
    code = serializers.CharField(help_text="Stable; for programs.")
    message = serializers.CharField(help_text="For people.")


class NoteShape(serializers.Serializer[object]):
    """What was left out of a file, or looked odd in it."""

    code = serializers.CharField()
    count = serializers.IntegerField(min_value=1)
    message = serializers.CharField()


class DatasetShape(serializers.Serializer[Dataset]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    version = serializers.IntegerField(allow_null=True, help_text="Null until it is ready.")
    case_count = serializers.IntegerField(allow_null=True, help_text="Null until it is ready.")
    state = serializers.ChoiceField(["ready", "loading", "failed", "cancelled"])
    check = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Only of one dataset made of a file: what it was read as, in sentences.",
    )
    notes = NoteShape(
        many=True, required=False, help_text="Only of one dataset, where its file has some."
    )
    errors = FaultShape(  # type: ignore[assignment]  # taken off the class there
        many=True, required=False, help_text="Only where the file was refused."
    )

    def to_representation(self, dataset: Dataset) -> dict[str, Any]:
        latest = dataset.latest
        return {
            "id": str(dataset.uuid),
            "name": dataset.name,
            "version": latest.number if latest else None,
            "case_count": latest.case_count if latest else None,
            "state": "ready" if latest else "loading",
        }


class VersionShape(serializers.ModelSerializer[DatasetVersion]):
    id = serializers.UUIDField(source="uuid")
    version = serializers.IntegerField(source="number")

    class Meta:
        model = DatasetVersion
        fields = ["id", "version", "case_count", "skipped_rows", "published_at"]
        read_only_fields = fields


def upload_body(upload: Upload) -> dict[str, Any]:
    """The dataset that a file did not become."""
    body: dict[str, Any] = {
        "id": str(upload.uuid),
        "name": upload.dataset_name,
        "version": None,
        "case_count": None,
        "state": upload.state,
    }
    if upload.state == UploadState.FAILED:
        body["errors"] = [_fault(problem) for problem in upload.problems]
    return body


def _fault(problem: dict[str, Any]) -> dict[str, Any]:
    line = {"line": problem["line"]} if problem["line"] else {}
    field = {"field": problem["column"] or ""}
    return {**field, **line, "code": problem["code"], "message": problem["message"]}
