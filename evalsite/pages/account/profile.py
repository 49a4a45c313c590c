"""The person's own account: name, teams, and how they sign in."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.models import AuditEntry, User


class NameForm(forms.Form):
    """What others see of the person."""

    name = NameField(
        max_length=100,
        required=False,
        help_text="Shown to your teams in place of your address.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )

    def save(self, person: User) -> None:
        old, new = person.name, self.cleaned_data["name"]
        if old == new:
            return
        with transaction.atomic():
            person.name = new
            person.save(update_fields=["name"])
            changed = {"old": {"name": old}, "new": {"name": new}}
            AuditEntry.objects.record(None, person, "user.renamed", person, **changed)


@form_page
def profile(request: SignedInRequest) -> HttpResponse:
    form = NameForm(request.POST or None, initial={"name": request.user.name})
    if form.is_valid():
        form.save(request.user)
        messages.success(request, "Saved.")
        return redirect("profile")
    factors = Authenticator.objects.filter(user=request.user)
    context = {
        "form": form,
        "memberships": request.user.memberships.select_related("team").order_by("team__name"),
        "sso": settings.EVALSITE_SSO,
        "has_sso": SocialAccount.objects.filter(user=request.user).exists(),
        "has_second_factor": factors.exclude(type=Authenticator.Type.RECOVERY_CODES).exists(),
    }
    status = 422 if form.errors else 200
    return render_page(request, "account/profile/page.html", context, status=status)
