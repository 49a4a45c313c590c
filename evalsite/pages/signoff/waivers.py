"""The waivers of a dataset: listed, ended before their last day, and brought back."""

from __future__ import annotations

import uuid
from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.blind_review import readable_waivers
from evalsite.pages.web.dataset_frame import dataset_frame
from evalsite.pages.web.decorators import get_page, post_action
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.pages.web.undo import add_undo_message
from scoring.models import Role, Waiver

STATES: Final = {"active": "Active", "expired": "Expired", "ended": "Ended"}


@get_page
def dataset_waivers(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The waivers of a dataset, the newest first; of one state where the address names it."""
    dataset = access.dataset_for(request.user, uid)
    every = Waiver.objects.filter(dataset=dataset)
    waivers = readable_waivers(request.user, every)
    chosen = request.GET.get("state", "")
    listed = waivers.in_state(chosen) if chosen in STATES else waivers
    context = dataset_frame(request, dataset, "waivers")
    context |= {
        "page": keyset_page(listed.for_list(), "-id", request.GET),
        "chosen": chosen,
        "left_out": every.values("case_key").distinct().count()
        - waivers.values("case_key").distinct().count(),
        "states": [
            (state, title, waivers.in_state(state).count()) for state, title in STATES.items()
        ],
    }
    return render_page(request, "signoff/waivers.html", context)


@post_action
def end_waiver(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """End a waiver: from now on the case counts again."""
    waiver = access.waiver_for(request.user, uid, Role.REVIEWER)
    if Waiver.objects.end(waiver.dataset, [waiver], by=request.user):
        path = reverse("reopen_waiver", args=[uid])
        add_undo_message(request, f"Waiver of {waiver.case_key} ended.", path)
    else:
        messages.info(request, "This waiver has already ended.")
    return redirect("dataset_waivers", waiver.dataset.uuid)


@post_action
def reopen_waiver(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Undo the end of a waiver, unless another one has taken its place."""
    waiver = access.waiver_for(request.user, uid, Role.REVIEWER)
    if Waiver.objects.reopen(waiver.dataset, [waiver], by=request.user):
        messages.success(request, f"Waiver of {waiver.case_key} restored.")
    else:
        text = "The case now has another waiver for this scorer. Nothing was changed."
        messages.info(request, text)
    return redirect("dataset_waivers", waiver.dataset.uuid)
