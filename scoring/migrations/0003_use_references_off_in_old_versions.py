"""Scorer versions made before references counted as right answers keep scoring as they did.

A stored config names every setting, so one without `use_references` is from before. It gets the value
that means what it meant, in parts of combinations too, and the fingerprint that such a config has now.
"""

import hashlib
import json

from django.db import migrations

TYPES = {
    "exact_match",
    "includes",
    "levenshtein",
    "numeric",
    "json_match",
    "json_similarity",
    "factuality",
}
COMBINATIONS = {"all", "any", "weighted"}
TYPE_VERSION = 1  # of all these types at this time


def with_references_off(type_name, config):
    if type_name in COMBINATIONS:
        parts = [
            {**part, "config": with_references_off(part["type"], part.get("config", {}))}
            for part in config["scorers"]
        ]
        return {**config, "scorers": parts}
    if type_name in TYPES:
        return {"use_references": False, **config}
    return config


def fingerprint(type_name, config):
    parts = json.dumps([type_name, TYPE_VERSION, config], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def keep_old_meaning(apps, schema_editor):
    versions = apps.get_model("scoring", "ScorerVersion").objects
    for version in versions.filter(type__in=TYPES | COMBINATIONS).order_by("pk").iterator():
        old, new = version.config, with_references_off(version.type, version.config)
        if old == new:
            continue
        # Any other fingerprint is that of an older type; it equals none of today's and may stay.
        if version.fingerprint == fingerprint(version.type, old):
            version.fingerprint = fingerprint(version.type, new)
        version.config = new
        version.save(update_fields=["config", "fingerprint"])


class Migration(migrations.Migration):
    dependencies = [("scoring", "0002_threshold_history")]

    operations = [migrations.RunPython(keep_old_meaning, migrations.RunPython.noop)]
