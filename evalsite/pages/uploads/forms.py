"""The forms of an upload: the file, how to read it, and the import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, Self, cast
from urllib.parse import urlencode

from django import forms
from django.core.files.base import ContentFile, File
from django.http import QueryDict

from evalsite.pages.web.fields import NameField
from scoring.core.files import DetectedFormat, FileProblem
from scoring.core.files.columns.table_header import divides_columns
from scoring.core.files.xlsx import CellReading
from scoring.engine import imports
from scoring.engine.imports.reader import FileOptions
from scoring.models import Dataset, Team, Upload, UploadKind, UploadState, User
from scoring.models.runs.run import is_future_date

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
    (", ", "a comma and a space"),
    (";", "a semicolon"),
    ("; ", "a semicolon and a space"),
    ("tab", "a tab"),
    ("|", "a vertical bar"),
    (" | ", "a vertical bar between spaces"),
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
    "csv": ("encoding", "delimiter", "quote", "header", "skip_lines"),
    "xlsx": ("sheet", "header", "skip_lines", *CellReading._fields),
    "json": ("encoding", "paths"),
    "jsonl": ("encoding", "paths", "skip_lines"),
}
MAX_PATHS: Final = 20
MAX_SKIPPED: Final = 10_000  # lines


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
    dataset_name = NameField(
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

    series = NameField(
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
    allow_future_date = forms.BooleanField(
        label="The date is meant",
        required=False,
        help_text="In the series the outputs take their place by today's date.",
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        known = cast("forms.ModelChoiceField[Dataset]", self.fields["dataset"])
        known.queryset = team.datasets.listed().order_by("name")

    def clean_pasted(self) -> str:
        """The rows with the line ends of the field, each of which browsers send as CR LF."""
        return str(self.cleaned_data["pasted"]).replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if "file" in cleaned and "pasted" in cleaned:
            cleaned["file"] = self._choose_file(cleaned["file"], cleaned["pasted"])
        dated = cleaned.get("dated")
        if dated and is_future_date(dated) and not cleaned["allow_future_date"]:
            text = "This date is in the future. Correct it, or say that it is meant."
            self.add_error("dated", text)
        if cleaned.get("kind") == UploadKind.OUTPUTS and not cleaned.get("dataset"):
            self.add_error("dataset", "Choose the dataset whose cases were answered.")
        elif not cleaned.get("dataset"):
            cleaned["dataset_name"] = self._check_name(
                cleaned.get("dataset_name") or _stem(cleaned.get("file"))
            )
        return cleaned

    def save(self, by: User) -> Upload | None:
        """Store the file as an upload; None, with an error of the form, if it is of no use."""
        names = ("file", "kind", "dataset", "dataset_name", "series", "dated")
        values = {name: self.cleaned_data[name] for name in names}
        try:
            return imports.store_upload(self.team, by=by, **values)
        except FileProblem as problem:
            self.add_error("file", f"{problem.text} ({problem.code})")
            return None

    def _choose_file(self, file: File[bytes] | None, pasted: str) -> File[bytes] | None:
        """The file, or one of the pasted rows."""
        if bool(file) == bool(pasted.strip()):
            choice = " or paste rows, not both." if file else ", or paste rows."
            self.add_error("file", f"Choose a file{choice}")
            return None
        if len(pasted.encode()) > MAX_PASTED:
            text = "These are more than 1 MiB. Save them as a file and choose it."
            self.add_error("pasted", text)
        return file or ContentFile(pasted.encode(), name=PASTED_NAME)

    def _check_name(self, name: str) -> str:
        if self.team.datasets.published().filter(name=name).exists():
            text = f"There is a dataset “{name}” already. Choose it above, or give another name."
            self.add_error("dataset_name", text)
        return name


def _stem(file: File[bytes] | None) -> str:
    """The file's name without `.csv`, `.jsonl.gz` and the like."""
    name = str(file.name or "") if file else ""
    return PurePath(name.removesuffix(".gz")).stem.strip()[:120] or "Dataset"


class FileOptionsForm(forms.Form):
    """How to read the file, where what was detected is wrong."""

    sheet = forms.CharField(max_length=255, required=False, widget=forms.Select)
    encoding = forms.ChoiceField(choices=ENCODINGS, required=False)
    delimiter = forms.ChoiceField(label="Columns parted by", choices=DELIMITERS, required=False)
    quote = forms.ChoiceField(label="Texts quoted by", choices=QUOTES, required=False)
    header = forms.ChoiceField(label="The first row holds", choices=HEADERS, required=False)
    skip_lines = forms.IntegerField(
        label="Lines to skip",
        min_value=0,
        max_value=MAX_SKIPPED,
        required=False,
        widget=forms.NumberInput(attrs={"size": 6, "placeholder": "0"}),
    )
    fill_merged = forms.BooleanField(label="Fill merged cells", required=False)
    skip_hidden = forms.BooleanField(label="Skip hidden rows", required=False)
    as_shown = forms.BooleanField(label="Numbers as shown", required=False)
    paths = forms.CharField(
        label="Values inside objects, by path",
        max_length=2_000,
        required=False,
        widget=forms.TextInput(
            attrs={"class": "mono", "placeholder": "messages[0].content, meta.lang", "size": 32}
        ),
    )

    @classmethod
    def from_request(cls, upload: Upload, query: QueryDict) -> Self:
        """The form as sent, else as the upload was read last."""
        form = cls(query or _form_values(upload.detected))
        return form._limit(_file_format(upload), upload.detected.get("sheets", ()))

    @classmethod
    def from_detected(cls, detected: DetectedFormat, paths: str = "") -> Self:
        """The form that says how the file was read, with the paths that were asked for."""
        names = ("encoding", "delimiter", "quote", "sheet", "skip_lines")
        options = {name: getattr(detected, name) for name in names}
        options["header"] = "yes" if detected.has_header else "no"
        options |= detected.reading._asdict()
        form = cls(_form_values(options) | {"paths": paths})
        return form._limit(detected.format, detected.sheets)

    def _limit(self, file_format: str, sheets: Sequence[str]) -> Self:
        """Keep the fields of this format, and offer any delimiter that was sent."""
        sent = self.data.get("delimiter", "")
        if sent not in dict(DELIMITERS) and divides_columns(sent):
            field = cast("forms.ChoiceField", self.fields["delimiter"])
            field.choices = [*DELIMITERS, (sent, sent)]
        for name in set(self.fields) - {*CHOOSABLE[file_format]}:
            del self.fields[name]
        if "sheet" in self.fields:
            chosen = self.data.get("sheet", "")
            names = list(sheets) or ([chosen] if chosen else [])
            first = [] if sheets else [("", "the first one")]
            self.fields["sheet"].widget.choices = [*first, *((name, name) for name in names)]
        return self

    @property
    def as_names(self) -> str:
        """The query that reads the file in the same way, but with its first row as names."""
        return urlencode({**self.data, "header": "yes"})

    @property
    def requested_paths(self) -> list[str]:
        """The paths of the field, where they are separated by commas."""
        text = self.cleaned_data.get("paths", "") if self.is_valid() else ""
        return [path.strip() for path in text.split(",") if path.strip()][:MAX_PATHS]

    @property
    def options(self) -> FileOptions:
        """What was chosen, "" for what is to be detected."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        options = {name: cleaned.get(name, "") for name in FileOptions.__annotations__}
        options["delimiter"] = TABULATOR.get(options["delimiter"], options["delimiter"])
        options["skip_lines"] = cleaned.get("skip_lines") or 0
        options |= {name: bool(cleaned.get(name)) for name in CellReading._fields}
        return cast("FileOptions", options)


def encoding_label(name: str) -> str:
    return dict(ENCODINGS).get(name, name.upper()) if name else ""


def _file_format(upload: Upload) -> str:
    """The format that was detected, else that of the file's name, else CSV."""
    suffix = PurePath(upload.file_name.lower().removesuffix(".gz")).suffix
    formats = {".xlsx": "xlsx", ".xlsm": "xlsx", ".json": "json", ".jsonl": "jsonl"}
    return str(upload.detected.get("format") or formats.get(suffix, "csv"))


def _form_values(options: Mapping[str, Any]) -> dict[str, str]:
    """The values of a FileOptionsForm; "" for an encoding or a quote that is not offered."""
    encoding, quote = options.get("encoding", ""), options.get("quote", "")
    return {
        "encoding": encoding if encoding in dict(ENCODINGS) else "",
        "delimiter": options.get("delimiter", "").replace("\t", "tab"),
        "quote": quote if quote in dict(QUOTES) else "",
        "header": options.get("header", ""),
        "sheet": options.get("sheet", ""),
        "skip_lines": str(options.get("skip_lines") or ""),
        **{name: "on" for name in CellReading._fields if options.get(name)},
    }


class ImportForm(forms.Form):
    """The start of an import; rows with problems prevent it unless they are to be skipped."""

    skip_bad_rows = forms.BooleanField(required=False)

    def __init__(self, *args: Any, upload: Upload, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.upload = upload

    @staticmethod
    def is_possible(upload: Upload) -> bool:
        """Whether the file was read to its end and holds something new."""
        report = upload.report
        is_whole = upload.state == UploadState.CHECKED and report.get("is_readable", False)
        is_new = not report.get("identical_to") or bool(report.get("outputs"))
        return bool(is_whole and report.get("cases") and is_new)

    def clean(self) -> dict[str, Any]:
        if not self.is_possible(self.upload):
            self.add_error(None, "There is nothing to import.")
        elif self.upload.problem_count and not self.cleaned_data.get("skip_bad_rows"):
            self.add_error(None, "Some rows have problems. Correct the file or leave them out.")
        return self.cleaned_data
