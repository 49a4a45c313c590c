"""The forms of an upload: which file for what, and what each of its columns holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, Self, cast
from urllib.parse import urlencode

from django import forms
from django.core.files.base import ContentFile, File
from django.http import QueryDict

from scoring.core.files import Detected, FileProblem
from scoring.engine import loading
from scoring.engine.loading.reading import Options
from scoring.models import Dataset, Team, Upload, UploadKind, UploadState, User

PASTED_NAME: Final = "pasted rows"
MAX_PASTED: Final = 1024 * 1024  # bytes
KINDS: Final = [
    (UploadKind.DATASET, "Cases, with or without outputs"),
    (UploadKind.OUTPUTS, "Outputs for cases that are here already"),
]

ENCODINGS: Final = [  # under the names that Python gives what it detected
    ("", "as detected"),
    ("utf-8", "UTF-8"),
    ("utf-16-le", "UTF-16, little-endian"),
    ("utf-16-be", "UTF-16, big-endian"),
    ("cp1252", "Windows-1252"),
    ("iso8859-1", "Latin-1"),
]
DELIMITERS: Final = [
    ("", "as detected"),
    (",", "a comma"),
    (";", "a semicolon"),
    ("tab", "a tab"),
    ("|", "a vertical bar"),
]
TABULATOR: Final = {"tab": "\t"}
QUOTES: Final = [
    ("", "as detected"),
    ('"', 'double quotes (")'),
    ("'", "single quotes (')"),
    ("none", "nothing"),
]
HEADERS: Final = [
    ("", "as detected"),
    ("yes", "the names of the columns"),
    ("no", "values already"),
]
#: What can be chosen, by format; "" stands for a file that could not be read.
CHOOSABLE: Final = {
    "csv": ("encoding", "delimiter", "quote", "header"),
    "xlsx": ("sheet", "header"),
    "json": ("encoding", "paths"),
    "jsonl": ("encoding", "paths"),
}
MOST_PATHS: Final = 20


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
        help_text="CSV, TSV, JSON, JSONL or XLSX, each also packed (.gz); one case a row.",
    )
    pasted = forms.CharField(
        label="Or paste rows",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "mono", "rows": 4, "spellcheck": "false"}),
        help_text="Up to 1 MiB, as a spreadsheet copies them, or as CSV or JSON Lines.",
    )

    series = forms.CharField(
        max_length=120,
        required=False,
        help_text="The model or prompt version; its runs are compared.",
    )
    dated = forms.DateTimeField(
        label="Answered on",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="In UTC; the moment of the import unless given.",
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        known = cast("forms.ModelChoiceField[Dataset]", self.fields["dataset"])
        known.queryset = team.datasets.published().order_by("name")

    def clean_pasted(self) -> str:
        """The rows as they stand in the field: browsers send each line end as CR LF."""
        return str(self.cleaned_data["pasted"]).replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "file" in given and "pasted" in given:
            given["file"] = self._rows(given["file"], given["pasted"])
        if given.get("kind") == UploadKind.OUTPUTS and not given.get("dataset"):
            self.add_error("dataset", "Choose the dataset whose cases were answered.")
        elif not given.get("dataset"):
            given["dataset_name"] = self._free_name(given)
        return given

    def save(self, by: User) -> Upload | None:
        """The upload, waiting for its mapping; None and an error when nothing can be made of it."""
        try:
            return loading.receive(self.team, by=by, **self._received())
        except FileProblem as fault:
            self.add_error("file", f"{fault.text} ({fault.code})")
            return None

    def _received(self) -> dict[str, Any]:
        names = ("file", "kind", "dataset", "dataset_name", "series", "dated")
        return {name: self.cleaned_data[name] for name in names}

    def _rows(self, file: File[bytes] | None, pasted: str) -> File[bytes] | None:
        if bool(file) == bool(pasted.strip()):
            both = (
                "Choose a file or paste rows, not both."
                if file
                else "Choose a file, or paste rows."
            )
            self.add_error("file", both)
            return None
        if len(pasted.encode()) > MAX_PASTED:
            self.add_error(
                "pasted", "These are more than 1 MiB. Save them as a file and choose it."
            )
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


class ReadingForm(forms.Form):
    """How the file is to be read where the guess is wrong."""

    sheet = forms.CharField(max_length=255, required=False, widget=forms.Select)
    encoding = forms.ChoiceField(choices=ENCODINGS, required=False)
    delimiter = forms.ChoiceField(label="Columns parted by", choices=DELIMITERS, required=False)
    quote = forms.ChoiceField(label="Texts quoted by", choices=QUOTES, required=False)
    header = forms.ChoiceField(label="The first row holds", choices=HEADERS, required=False)
    paths = forms.CharField(
        label="Values inside objects, by path",
        max_length=2_000,
        required=False,
        widget=forms.TextInput(
            attrs={"class": "mono", "placeholder": "messages[0].content, meta.lang", "size": 32}
        ),
    )

    @classmethod
    def of(cls, upload: Upload, given: QueryDict) -> Self:
        """What the request says, else what the upload was last read with."""
        found = upload.detected
        return cls(given or _listed(found)).limited(_format_of(upload), found.get("sheets", ()))

    @classmethod
    def used(cls, detected: Detected, paths: str = "") -> Self:
        """How the file was read, whoever chose it, and the paths that were asked for."""
        header = "yes" if detected.has_header else "no"
        names = ("encoding", "delimiter", "quote", "sheet")
        found = {name: getattr(detected, name) for name in names} | {"header": header}
        return cls(_listed(found) | {"paths": paths}).limited(detected.format, detected.sheets)

    def limited(self, kind: str, sheets: Sequence[str]) -> Self:
        """With only what can be chosen for this format."""
        for name in set(self.fields) - {*CHOOSABLE[kind]}:
            del self.fields[name]
        if "sheet" in self.fields:
            chosen = self.data.get("sheet", "")
            names = list(sheets) or ([chosen] if chosen else [])
            self.fields["sheet"].widget.choices = [
                *([] if sheets else [("", "the first one")]),
                *((name, name) for name in names),
            ]
        return self

    @property
    def as_names(self) -> str:
        """The query that reads the file in the same way, but its first row as names."""
        return urlencode({**self.data, "header": "yes"})

    @property
    def asked_paths(self) -> list[str]:
        """Those written in the field for them, in which commas part them."""
        written = self.cleaned_data.get("paths", "") if self.is_valid() else ""
        return [each.strip() for each in written.split(",") if each.strip()][:MOST_PATHS]

    @property
    def options(self) -> Options:
        """What is chosen, "" for what is left to the guess."""
        given = self.cleaned_data if self.is_valid() else {}
        options = {name: given.get(name, "") for name in Options.__annotations__}
        options["delimiter"] = TABULATOR.get(options["delimiter"], options["delimiter"])
        return cast("Options", options)


def spoken_encoding(name: str) -> str:
    return dict(ENCODINGS).get(name, name.upper()) if name else ""


def _format_of(upload: Upload) -> str:
    """What the file was read as, else what it is called; a table for any other name."""
    ending = PurePath(upload.file_name.lower().removesuffix(".gz")).suffix
    called = {".xlsx": "xlsx", ".xlsm": "xlsx", ".json": "json", ".jsonl": "jsonl"}
    return str(upload.detected.get("format") or called.get(ending, "csv"))


def _listed(found: Mapping[str, Any]) -> dict[str, str]:
    """The choices that say how a file was read; "" for what is not listed."""
    encoding, quote = found.get("encoding", ""), found.get("quote", "")
    parted = found.get("delimiter", "").replace("\t", "tab")
    return {
        "encoding": encoding if encoding in dict(ENCODINGS) else "",
        "delimiter": parted if parted in dict(DELIMITERS) else "",
        "quote": quote if quote in dict(QUOTES) else "",
        "header": found.get("header", ""),
        "sheet": found.get("sheet", ""),
    }


class ImportForm(forms.Form):
    """Rows with problems stop an import unless they are to be left out."""

    skip_bad_rows = forms.BooleanField(required=False)

    def __init__(self, *args: Any, upload: Upload, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.upload = upload

    @staticmethod
    def suits(upload: Upload) -> bool:
        """Whether there is something to import: the file was read to its end and adds something."""
        found = upload.report
        is_whole = upload.state == UploadState.CHECKED and found.get("is_readable", False)
        is_new = not found.get("identical_to") or bool(found.get("outputs"))
        return bool(is_whole and found.get("cases") and is_new)

    def clean(self) -> dict[str, Any]:
        if not self.suits(self.upload):
            self.add_error(None, "There is nothing to import.")
        elif self.upload.problem_count and not self.cleaned_data.get("skip_bad_rows"):
            self.add_error(None, "Some rows have problems. Correct the file or leave them out.")
        return self.cleaned_data
