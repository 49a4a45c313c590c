"""An output that an editor accepts as right goes into the draft of its dataset."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.cases.views import parse_position
from evalsite.pages.drafts.views import edit_of_case, undo_edit_form
from evalsite.pages.review.corrections import back_to_case
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from evalsite.pages.web.undo import add_undo_message
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError
from scoring.engine.drafts.accept import accept_output
from scoring.models import Role

REFERENCE = "reference"  # of the field `as`: a further right answer, and not what is expected


@post_action
def accept_case_output(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """The output becomes what its case expects, or with `as=reference` a further right answer."""
    place = parse_position(request, position)
    opened = access.output_for(request.user, uid, *place, role=Role.EDITOR)
    dataset = access.dataset_for(request.user, opened.run.output_set.version.dataset.uuid)
    key, as_reference = opened.output.case.key, request.POST.get("as") == REFERENCE
    before = edit_of_case(dataset, key)
    try:
        with transaction.atomic():
            draft = drafts.open_draft(dataset, request.user)
            accept_output(draft, opened.output, request.user, as_reference=as_reference)
        after = edit_of_case(dataset, key)
        what = "a further right answer" if as_reference else "the expected value"
        text = f"Draft of {dataset.name}: this output is {what} of {key} now."
        undo = undo_edit_form(dataset, key, before, after.revision if after else 0)
        add_undo_message(request, text, *undo)
    except ContentError as fault:
        messages.error(request, " ".join(fault.problems.values()))
    except DraftError as refused:
        messages.error(request, str(refused))
    return redirect(back_to_case(request, opened))
