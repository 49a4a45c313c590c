"""Generations: outputs a run makes itself, by calling a model."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from scoring.models.base import AddressedRow
from scoring.models.runs.run import OutputSet
from scoring.models.scorers.connection import Connection
from scoring.models.written_json import WrittenJSONField

MAX_TRIALS = 20


class Generation(AddressedRow):
    """How the outputs of an output set are made: model, prompt and parameters, frozen.

    `connection` may be deleted later; its name stays. `system` and `template` are prompt texts with
    `{{ input }}`-like places; `parameters` goes to the model as it is (temperature, max_tokens …).
    """

    output_set = models.OneToOneField(OutputSet, models.CASCADE, related_name="generation")
    connection = models.ForeignKey(Connection, models.SET_NULL, null=True, related_name="+")
    connection_name = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200)
    system = models.TextField(blank=True, default="")
    template = models.TextField()
    parameters = WrittenJSONField(default=dict, blank=True)
    trials = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(MAX_TRIALS)]
    )

    def __str__(self) -> str:
        return f"{self.model} for {self.output_set}"
