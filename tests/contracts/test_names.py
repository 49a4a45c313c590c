"""Names are one line, whichever way they come: else an editor writes lines into alert mails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import models

import evalsite.api
import evalsite.pages
from evalsite.api.fields import BodySerializer, NameField
from evalsite.pages.web import fields
from scoring.core.contract import ConfigError
from scoring.core.suites.suite_format import read_suite
from scoring.models import Dataset, OutputSet, Team
from scoring.models.base import validate_name

NAMES = {"name", "series", "team_name", "dataset_name"}
BROKEN = "Answers\nPay at\u202e evil.example"
#: Columns of those names that hold no name which somebody chose: frozen copies, or what a file or
#: another row was called.
COPIES = {
    *("comparison.series", "rundrift.series", "alert.series", "alertwatch.series"),
    *("alertrule.series", "runstep.series", "levelsums.series", "seriesdrift.series"),
    *("auditentry.team_name", "runscorer.name", "upload.dataset_name", "upload.series"),
    *("worker.name", "baseline.series", "waiver.series"),
}
#: What filters by a name and stores none.
FILTERS = {"DriftQuery"}


def subclasses(base: type[Any]) -> Iterator[type[Any]]:
    for child in base.__subclasses__():
        yield child
        yield from subclasses(child)


@pytest.fixture(scope="module", autouse=True)
def _everything_imported() -> None:
    for package in (evalsite.pages, evalsite.api):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def test_columns_that_hold_names_are_checked() -> None:
    unchecked = set()
    for model in apps.get_app_config("scoring").get_models():
        for field in model._meta.fields:
            is_name = field.name in NAMES and isinstance(field, models.CharField)
            if is_name and validate_name not in field.validators:
                unchecked.add(f"{model._meta.model_name}.{field.name}")
    assert unchecked - COPIES == set()


def test_fields_of_pages_that_take_names_are_checked() -> None:
    unchecked = {
        f"{form.__name__}.{name}"
        for form in subclasses(forms.Form)
        if form.__module__.startswith("evalsite.pages")
        for name, field in form.base_fields.items()
        if name in NAMES and type(field) is forms.CharField and not field.widget.is_hidden
    }
    assert unchecked == set()


def test_fields_of_the_api_that_take_names_are_checked() -> None:
    unchecked = {
        f"{body.__name__}.{name}"
        for body in subclasses(BodySerializer)
        if body.__name__ not in FILTERS
        for name, field in body._declared_fields.items()
        if name in NAMES and not field.read_only and not isinstance(field, NameField)
    }
    assert unchecked == set()


def test_a_field_of_a_page_says_what_a_name_is() -> None:
    with pytest.raises(ValidationError, match="A name is one line"):
        fields.NameField().clean(BROKEN)


@pytest.mark.parametrize(
    "text",
    [
        {"name": BROKEN, "scorers": [{"type": "exact_match"}]},
        {"scorers": [{"type": "exact_match", "name": BROKEN}]},
    ],
)
def test_suite_files_name_the_field(text: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="A name is one line"):
        read_suite(json.dumps(text), spelling="json")


def test_columns_of_a_file_give_names_of_one_line(team: Team, tmp_path: Any) -> None:
    file = tmp_path / "cases.csv"
    file.write_text('id,input,"output:a\nb\u202e c"\n1,x,y\n')
    call_command("import", str(file), dataset="New", team=team.slug)
    names = OutputSet.objects.values_list("name", "series")
    assert list(names) in ([], [("output:a b c", "output:a b c")], [("a b c", "a b c")])
    assert all(validate_name(text) is None for row in names for text in row)


def test_commands_refuse_it(team: Team, tmp_path: Any) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("id,input\n1,x\n")
    with pytest.raises(CommandError, match="control characters"):
        call_command("import", str(file), dataset=BROKEN, team=team.slug)
    assert not Dataset.objects.exists()
