"""Another e-mail address for the account, confirmed by a link that is mailed to it."""

from __future__ import annotations

from typing import Any

from allauth.core import context as allauth_context
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from evalsite.middleware.signed_in import count_password_attempt, forget_password_attempts
from evalsite.pages.account.forms import refuse_too_many_attempts
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.site_links import site_link
from scoring.engine.team.invitations import can_send_mail
from scoring.models import AttemptCounter, OutgoingMail, User
from scoring.models.team.address_change import LINK_DAYS, change_address, read_address_key
from scoring.models.team.outgoing_mail import LINK_KEY


class NewAddressForm(forms.Form):
    """The new address, and the password, whose guesses count as attempts to sign in."""

    email = forms.EmailField(
        label="New e-mail",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = forms.CharField(
        strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_email(self) -> str:
        email = User.objects.normalize_email(self.cleaned_data["email"]).lower()
        if email == self.person.email:
            raise forms.ValidationError("This is your address already.")
        return email

    def clean_password(self) -> str:
        request, password = allauth_context.request, self.cleaned_data["password"]
        with refuse_too_many_attempts():
            count_password_attempt(request, self.person.email)
        if not self.person.check_password(password):
            raise forms.ValidationError("This is not your password.")
        forget_password_attempts(request, self.person.email)
        return str(password)


@form_page
@sensitive_post_parameters("password")
def new_address(request: SignedInRequest) -> HttpResponse:
    """Mail a link to the new address; the answer does not tell whether somebody has it."""
    form = NewAddressForm(request.POST or None, person=request.user)
    if form.is_valid():
        email = form.cleaned_data["email"]
        if AttemptCounter.objects.take_mail(email):
            link = site_link(request, reverse("confirm_address", args=[LINK_KEY]))
            OutgoingMail.objects.create(address=email, new_address_of=request.user, link=link)
        messages.success(request, f"A link is on its way to {email}. Your address changes with it.")
        return redirect("profile")
    context = {"form": form, "can_send_mail": can_send_mail()}
    status = 422 if form.errors else 200
    return render_page(request, "account/profile/new_address.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_address(request: HttpRequest, address_key: str) -> HttpResponse:
    """Change the address of the link's person, whoever is signed in: the link came by mail."""
    found = read_address_key(address_key)
    if found is None:
        context: dict[str, Any] = {"days": LINK_DAYS}
        return render_page(request, "account/profile/ended_link.html", context, status=410)
    person, address = found
    context = {"person": person, "address": address}
    if request.method == "POST":
        if change_address(person, address):
            messages.success(request, f"You sign in as {address} now.")
            return redirect("profile")
        context["is_taken"] = True
    status = 409 if "is_taken" in context else 200
    return render_page(request, "account/profile/confirm_address.html", context, status=status)
