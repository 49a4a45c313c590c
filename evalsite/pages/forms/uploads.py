"""The forms of an upload: which file for what, and what each of its columns holds."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Final, cast

from django import forms
from django.core.files.base import ContentFile, File

from scoring.models import Dataset, Team, UploadKind

PASTED_NAME: Final = "pasted rows"
KINDS: Final = [
    (UploadKind.DATASET, "Cases, with or without outputs"),
    (UploadKind.OUTPUTS, "Outputs for cases that are here already"),
]


class NewUploadForm(forms.Form):
    """A file or pasted rows, and the dataset they belong to."""

    kind = forms.ChoiceField(
        label="What the rows hold",
        choices=KINDS,
        initial=UploadKind.DATASET,
        widget=forms.RadioSelect,
    )
    dataset = forms.ModelChoiceField(
        Dataset.objects.none(),
        to_field_name="uuid",
        required=False,
        empty_label="A new dataset",
        help_text="Cases become a new version of the dataset you choose.",
    )
    dataset_name = forms.CharField(
        label="Name of the new dataset",
        max_length=120,
        required=False,
        help_text="Without one, the file's name is taken.",
    )
    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        help_text="CSV, TSV, JSON or JSONL, one case a row.",
    )
    pasted = forms.CharField(
        label="Or paste rows",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "mono", "rows": 4, "spellcheck": "false"}),
        help_text="With the line of column names, as a spreadsheet copies them.",
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        known = cast("forms.ModelChoiceField[Dataset]", self.fields["dataset"])
        known.queryset = team.datasets.published().order_by("name")

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "file" in given and "pasted" in given:
            given["file"] = self._rows(given["file"], given["pasted"])
        if given.get("kind") == UploadKind.OUTPUTS and not given.get("dataset"):
            self.add_error("dataset", "Choose the dataset whose cases were answered.")
        elif not given.get("dataset"):
            given["dataset_name"] = self._free_name(given)
        return given

    def _rows(self, file: File[bytes] | None, pasted: str) -> File[bytes] | None:
        if bool(file) == bool(pasted.strip()):
            both = "Choose a file or paste rows, not both." if file else "Choose a file."
            self.add_error("file", both)
            return None
        return file or ContentFile(pasted.encode(), name=PASTED_NAME)

    def _free_name(self, given: dict[str, Any]) -> str:
        name: str = given.get("dataset_name") or _stem(given.get("file"))
        if self.team.datasets.published().filter(name=name).exists():
            text = f"There is a dataset “{name}” already. Choose it above, or give another name."
            self.add_error("dataset_name", text)
        return name


def _stem(file: File[bytes] | None) -> str:
    """The file's name without `.csv`, `.jsonl.gz` and the like."""
    name = str(file.name or "") if file else ""
    return PurePath(name.removesuffix(".gz")).stem.strip()[:120] or "Dataset"

