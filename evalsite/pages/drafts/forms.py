"""The forms of a draft: editing one case, and publishing."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.http import QueryDict

from scoring.core.contract import CaseProblem, Json
from scoring.core.files import MISSING
from scoring.core.json_text import parse
from scoring.core.textdiff.text_layout import display_text
from scoring.engine.drafts import EditConflictError, TypedCase
from scoring.models import Case, DraftEdit
from scoring.models.data.dataset import KEY_LENGTH, CaseContent

TEXT, JSON, NOTHING = "text", "json", "nothing"
KINDS: Final = {TEXT: "a text", JSON: "JSON", NOTHING: "nothing is expected"}


class CaseForm(forms.Form):
    """One case of a draft. `content` is what it holds now, None for a new case.

    A browser sends every line end as CR LF: a text that differs in nothing else is not changed.
    `other_edit` is what another editor saved since the form was opened.
    """

    input = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    input_kind = forms.ChoiceField(choices=list(KINDS.items())[:2], label="Input is")
    expected = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    expected_kind = forms.ChoiceField(choices=list(KINDS.items()), label="Expected is")
    tags = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line.",
    )
    metadata = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="A JSON object.",
    )
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    version = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        sent: QueryDict | None,
        content: CaseContent | None,
        seen: int = 0,
        version: int | None = None,
    ) -> None:
        self.content = content
        self.other_edit: DraftEdit | Case | None = None
        super().__init__(sent, initial=form_values(content) | {"seen": seen, "version": version})
        for number in range(1, self._reference_count + 2):
            self.fields[f"reference_{number}"] = forms.CharField(
                required=False,
                strip=False,
                label=f"Reference {number}",
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        if content is None:
            self.fields["key"] = forms.CharField(
                required=False,
                max_length=KEY_LENGTH,
                help_text="Names the case in every version. Left empty, a hash of the input.",
            )

    @property
    def references(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("reference_")]

    def clean_input(self) -> Json:
        return self._clean_value("input")

    def clean_expected(self) -> Any:
        if self.data.get("expected_kind") != NOTHING:
            return self._clean_value("expected")
        text = self._normalize_text("expected")
        if text and text != self["expected"].initial:
            raise forms.ValidationError("Something is written here. Say whether a text or JSON.")
        return MISSING

    def clean_metadata(self) -> dict[str, Json]:
        text = self._normalize_text("metadata")
        value = parse_json(text) if text.strip() else {}
        if not isinstance(value, dict):
            raise forms.ValidationError("This is no JSON object.")
        return value

    def clean_tags(self) -> tuple[str, ...]:
        text = self._normalize_text("tags")
        if self.content and text == self.get_initial_for_field(self.fields["tags"], "tags"):
            return tuple(self.content.tags)
        return tuple(line.strip() for line in text.split("\n") if line.strip())

    @property
    def texts(self) -> TypedCase:
        data = self.cleaned_data
        return TypedCase(
            data["input"], data["expected"], self._reference_texts, data["metadata"], data["tags"]
        )

    def show_other_edit(self, stale: EditConflictError, version: int | None) -> None:
        """Show another editor's change; the next submit overwrites it."""
        seen = stale.edit.revision if stale.edit else 0
        self.data = dict(self.data.items()) | {"seen": str(seen), "version": str(version)}
        self.other_edit = stale.content

    def find_differences(self, content: CaseContent) -> dict[str, str]:
        """The texts of the content that differ from those of this form, by label."""
        values = form_values(content)
        differences = {}
        for name in [name for name in self.fields if name not in ("seen", "version", "key")]:
            text = values.get(name, "")
            if not is_alike_text(text, self[name].value()):
                label = KINDS[text] if name.endswith("_kind") else str(text)
                differences[str(self[name].label)] = label
        return differences

    def add_errors(self, problems: dict[str, str]) -> None:
        """Add each problem of the content to its field, or to the form."""
        for name, text in problems.items():
            self.add_error(name if name in self.fields else None, text)

    @property
    def _reference_texts(self) -> tuple[str, ...]:
        """The references that are not empty; an empty one is kept where nothing was changed."""
        texts = tuple(self._normalize_text(field.name) for field in self.references)
        old = tuple(self.content.references) if self.content else ()
        is_same = texts[: len(old)] == old and not any(texts[len(old) :])
        return old if is_same else tuple(text for text in texts if text)

    @property
    def _reference_count(self) -> int:
        sent = [name for name in self.data if name.startswith("reference_")]
        old = len(self.content.references) if self.content else 0
        return max(old, min(len(sent), 1_000) - 1)

    def _clean_value(self, name: str) -> Json:
        text = self._normalize_text(name)
        return parse_json(text) if self.data.get(f"{name}_kind") == JSON else text

    def _normalize_text(self, name: str) -> str:
        """The text that was sent, or the initial one if only line ends differ."""
        sent = str(self.cleaned_data.get(name, "")).replace("\r\n", "\n")
        initial = str(self.get_initial_for_field(self.fields[name], name) or "")
        return initial if is_alike_text(initial, sent) else sent


class PublishForm(forms.Form):
    message = forms.CharField(
        max_length=1_000, label="What changed and why", widget=forms.Textarea(attrs={"rows": 2})
    )


def form_values(content: CaseContent | None) -> dict[str, Any]:
    """The values of a CaseForm for the case."""
    if content is None:
        return {"input_kind": TEXT, "expected_kind": NOTHING, "metadata": "{}"}
    references = {f"reference_{n}": text for n, text in enumerate(content.references, start=1)}
    return references | {
        "input": display_text(content.input),
        "input_kind": TEXT if isinstance(content.input, str) else JSON,
        "expected": display_text(content.expected) if content.has_expected else "",
        "expected_kind": expected_kind(content),
        "tags": "\n".join(content.tags),
        "metadata": display_text(content.metadata),
    }


def is_alike_text(one: object, other: object) -> bool:
    """Whether two texts differ in line ends at most, which browsers change."""
    texts = (str(text or "").replace("\r\n", "\n").replace("\r", "\n") for text in (one, other))
    return len(set(texts)) == 1


def expected_kind(content: CaseContent) -> str:
    """One of KINDS."""
    if not content.has_expected:
        return NOTHING
    return TEXT if isinstance(content.expected, str) else JSON


def parse_json(text: str) -> Json:
    """The JSON value of a field. Raises ValidationError."""
    try:
        return parse(text, refuse_nul=True)
    except CaseProblem as fault:
        if fault.code == "invalid_json":
            why = f"{fault.text[:1].lower()}{fault.text[1:]}"
            raise forms.ValidationError(f"This cannot be read as JSON: {why}.") from None
        raise forms.ValidationError(f"{fault.text[:1].upper()}{fault.text[1:]}.") from None
