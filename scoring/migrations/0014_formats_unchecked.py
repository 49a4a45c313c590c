"""Saved scorers by JSON schema go on not checking `format`, as they did when they were saved."""

from django.db import migrations

TYPE, SETTING = "json_schema", "check_formats"


def keep_unchecked(apps, schema_editor):
    versions = apps.get_model("scoring", "ScorerVersion").objects.all()
    for version in versions.iterator():
        if _keep_unchecked(version.type, version.config):
            version.save(update_fields=["config"])


def _keep_unchecked(type_name, config):
    """Whether the config, or that of a part of a combination, was changed."""
    if type_name == TYPE and SETTING not in config:
        config[SETTING] = False
        return True
    parts = config.get("scorers")
    if not isinstance(parts, list):
        return False
    return any([
        _keep_unchecked(part.get("type", ""), part.setdefault("config", {}))
        for part in parts
        if isinstance(part, dict)
    ])


class Migration(migrations.Migration):
    dependencies = [("scoring", "0013_warning_limits")]

    operations = [migrations.RunPython(keep_unchecked, migrations.RunPython.noop)]
