"""An output that is right, as the expected value or a further right answer of its case."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from scoring.engine.drafts.case_content import TypedCase
from scoring.engine.drafts.edits import DraftError, draft_cases, lock_draft, save_case
from scoring.models import Draft, DraftEdit, EditKind, Output, User


def accept_output(draft: Draft, output: Output, by: User | None, *, as_reference: bool) -> None:
    """Edit the case of the output in the draft: it is what is expected, or a reference.

    Raises DraftError where the case is gone, expects something else by now, or has the output as a
    right answer already, and ContentError.
    """
    key = output.case.key
    if output.text is None:
        raise DraftError("There is no output to accept.")
    with transaction.atomic():
        lock_draft(draft)
        edit = DraftEdit.objects.filter(draft=draft, key=key).first()
        base = draft_cases(draft).filter(key=key).first()
        present = edit or base
        if present is None or (edit is not None and edit.kind == EditKind.DELETE):
            raise DraftError(f"There is no case {key} in the latest version and its draft.")
        typed = TypedCase.of(present)
        if as_reference:
            changed = replace(typed, references=(*typed.references, output.text))
        elif present.expected_json != output.case.expected_json:
            raise DraftError(f"What is expected of {key} was changed meanwhile. Edit it there.")
        else:
            changed = replace(typed, expected=output.value)
        if changed == typed or (as_reference and output.text in typed.references):
            raise DraftError("That is a right answer already.")
        save_case(draft, key, changed, by, edit.revision if edit else 0)
