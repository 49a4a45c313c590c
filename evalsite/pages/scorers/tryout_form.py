"""The case on which a scorer is tried, typed or chosen from the team's own cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from django import forms
from django.db.models import Q

from evalsite.pages.scorers.config_fields import JsonTextField, LinesField
from scoring.core.contract import Case as ScoredCase
from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import parse, to_text
from scoring.core.registry import ScorerType, scorer_type
from scoring.core.scorers.answers import AnswersConfig
from scoring.core.textdiff.text_layout import display_text
from scoring.models import (
    Case,
    Dataset,
    Output,
    OutputSet,
    OutputSetState,
    RunScorer,
    Scorer,
    Team,
)

MAX_CHARS: Final = 10_000  # of each text
DATASETS, CASES = 4, 5  # how many datasets are offered, and how many cases of each


def compares_texts(type_name: str, config: Mapping[str, Any]) -> bool:
    """Whether a scorer takes the expected value verbatim, at any depth of a combination."""
    kind = scorer_type(type_name)
    if kind.family != "combinator":
        return kind.expected_as != "value"
    return all(compares_texts(part["type"], part.get("config", {})) for part in config["scorers"])


def splits_lists(type_name: str, config: Mapping[str, Any]) -> bool:
    """Whether a list of texts as expected value is a list of right answers, for it or any part."""
    kind = scorer_type(type_name)
    if kind.family == "combinator":
        parts = config["scorers"]
        return any(splits_lists(part["type"], part.get("config", {})) for part in parts)
    is_splitting = issubclass(kind.config, AnswersConfig) and kind.config.splits_lists
    return is_splitting and bool(config.get("use_references", True))


def _text(label: str, rows: int, help_text: str = "") -> forms.CharField:
    attrs = {"rows": rows, "class": "mono", "spellcheck": "false"}
    return forms.CharField(
        label=label,
        required=False,
        strip=False,
        max_length=MAX_CHARS,
        help_text=help_text,
        widget=forms.Textarea(attrs=attrs),
    )


class ReferencesField(LinesField):
    """References one a line, or as a JSON list where one of them has several lines."""

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, list | tuple) and any("\n" in text for text in value):
            return display_text(list(value))
        return super().prepare_value(value)

    def to_python(self, value: Any) -> Any:
        listed = _parse_structure(value or "")
        if isinstance(listed, list):
            return [to_text(item) for item in listed]
        return super().to_python(value)


class MetadataField(JsonTextField):
    """A JSON object."""

    def to_python(self, value: Any) -> Any:
        metadata = super().to_python(value)
        if metadata is not None and not isinstance(metadata, dict):
            raise forms.ValidationError("Metadata is a JSON object.")
        return metadata


class TryoutForm(forms.Form):
    """Input, output and expected as typed. An object or a list is JSON, all else is a text; what
    is expected is a text in any case where the scorer `compares_texts`.
    """

    prefix = "try"

    input = _text("Input", 2)
    output = _text("Output", 4)
    expected = _text(
        "Expected", 3, "Empty: nothing is expected. A JSON list of texts: several right answers."
    )
    references = ReferencesField(
        required=False, max_length=MAX_CHARS, rows=2, help_text="One a line, or a JSON list."
    )
    metadata = MetadataField(
        required=False, max_length=MAX_CHARS, rows=3, help_text="A JSON object."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # they stand beside the scorer's form, not in it
            field.widget.attrs["form"] = "scorer-form"

    def case(self, *, is_text: bool = False, has_lists: bool = False) -> ScoredCase:
        """With `has_lists` a JSON list of texts is a list of answers, also where `is_text`."""
        data = self.cleaned_data
        read = _normalize_newlines if is_text else _parse_value
        if has_lists and _is_list_of_texts(data["expected"]):
            read = _parse_value
        return ScoredCase(
            output=_normalize_newlines(data["output"]),
            expected=read(data["expected"]) if data["expected"] else None,
            input=_parse_value(data["input"]),
            references=tuple(data["references"] or ()),
            metadata=data["metadata"] or {},
        )


def _parse_value(text: str) -> Json:
    structure = _parse_structure(text)
    return _normalize_newlines(text) if structure is None else structure


def _is_list_of_texts(text: str) -> bool:
    listed = _parse_structure(text)
    return isinstance(listed, list) and all(isinstance(item, str) for item in listed)


def _parse_structure(text: str) -> Json:
    """The object or list a text holds as JSON; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse(text)
    except CaseProblem:
        return None


def _normalize_newlines(text: str) -> str:
    """A form sends line ends as CR LF, whatever was typed."""
    return text.replace("\r\n", "\n")


class Prefill(NamedTuple):
    """The initial values of the fields; `is_cut` if a text was longer than its field."""

    values: Mapping[str, Any]
    is_cut: bool


def prefill_from(case: ScoredCase, kind: ScorerType) -> Prefill:
    """A case as the fields hold it; what is expected as its text where that may be compared."""
    is_text = kind.expected_as == "text" or kind.family == "combinator"
    expected = "" if case.expected is None else _expected_text(case.expected, is_text=is_text)
    texts = {"input": display_text(case.input or ""), "output": display_text(case.output)}
    texts["expected"] = expected
    values: dict[str, Any] = {name: text[:MAX_CHARS] for name, text in texts.items()}
    values["references"] = list(case.references)
    values["metadata"] = dict(case.metadata) or None
    return Prefill(values, any(len(text) > MAX_CHARS for text in texts.values()))


def _expected_text(expected: Json, *, is_text: bool) -> str:
    try:
        return to_text(expected) if is_text else display_text(expected)
    except CaseProblem:
        return display_text(expected)


class OwnCases:
    """A few cases of the team's latest datasets, as choices of a form.

    The dataset that a scorer has scored last comes first: its cases are what it is meant for.
    """

    def __init__(self, team: Team, scorer: Scorer | None) -> None:
        self._team, self._scorer = team, scorer

    @cached_property
    def _datasets(self) -> list[Dataset]:
        scored = RunScorer.objects.filter(version__scorer=self._scorer).order_by("-pk")
        is_scored = Q(pk__in=scored.values("run__output_set__version__dataset")[:1])
        datasets = Dataset.objects.filter(team=self._team, latest__isnull=False)
        ordered = datasets.annotate(is_scored=is_scored).order_by("-is_scored", "-pk")
        return list(ordered.select_related("latest")[:DATASETS])

    def choices(self) -> Sequence[tuple[str, list[tuple[str, str]]]]:
        """Grouped by dataset; a value is what `find` takes."""
        versions = {dataset.latest_id: dataset for dataset in self._datasets}
        cases = Case.objects.filter(version__in=versions, position__lte=CASES)
        rows = cases.order_by("position").values_list("version", "position", "key")
        groups: dict[str, list[tuple[str, str]]] = {str(row.uuid): [] for row in self._datasets}
        for version, position, key in rows:
            uid = str(versions[version].uuid)
            groups[uid].append((f"{uid}/{position}", key))
        return [(row.name, groups[str(row.uuid)]) for row in self._datasets]

    @property
    def first(self) -> str:
        """The choice a page begins with; "" where the team has no cases."""
        return f"{self._datasets[0].uuid}/1" if self._datasets else ""

    def find(self, value: str) -> ScoredCase | None:
        """The case of a choice, with its newest output if it has one; None for no choice."""
        uid, _, position = value.partition("/")
        version = next((row.latest_id for row in self._datasets if str(row.uuid) == uid), None)
        if version is None or not (position.isascii() and position.isdecimal()):
            return None
        case = Case.objects.filter(version=version, position=int(position[:6])).first()
        return _with_output(case) if case else None


def _with_output(case: Case) -> ScoredCase:
    newest = OutputSet.objects.filter(version=case.version_id, state=OutputSetState.READY)
    outputs = Output.objects.filter(output_set__in=newest.order_by("-pk")[:1], case=case)
    output = outputs.exclude(text=None).order_by("trial").first()
    return ScoredCase(
        output=output.value if output else "",
        expected=case.expected,
        input=case.input,
        references=tuple(case.references),
        metadata=case.metadata,
    )


def example_case(kind: ScorerType) -> ScoredCase:
    """A worked example, for a team without cases: one of the usual config, if there is one."""
    usual = (example.case for example in kind.examples if not example.config)
    return next(usual, kind.examples[0].case if kind.examples else ScoredCase(output=""))
