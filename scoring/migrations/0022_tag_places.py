"""Where the cases with a tag stand in a version, for every version that is there."""

import json
from array import array

import django.db.models.deletion
from django.db import migrations, models

FEW, MOST_TAGS, TAG_LENGTH = 2_000, 1_000, 200


def _look_through(apps, _):
    case, version, kept = (
        apps.get_model("scoring", name) for name in ("Case", "DatasetVersion", "TagPlaces")
    )
    for pk in version._base_manager.filter(state="ready").values_list("pk", flat=True):
        cases = case.objects.filter(version=pk).exclude(tags_json="[]").order_by("position")
        found = _places(cases.values_list("position", "tags_json").iterator(chunk_size=10_000))
        if found is not None:
            few = {tag: list(at) if len(at) <= FEW else None for tag, at in found.items()}
            rows = [kept(version_id=pk, tag=tag, positions=at) for tag, at in few.items()]
            kept.objects.bulk_create([kept(version_id=pk, tag=""), *rows], batch_size=200)


def _places(cases):
    found = {}
    for position, written in cases:
        for tag in set(json.loads(written)):
            if 0 < len(tag) <= TAG_LENGTH and "\0" not in tag:
                at = found.setdefault(tag, array("I"))
                if len(at) <= FEW:
                    at.append(position)
        if len(found) > MOST_TAGS:
            return None
    return found


class Migration(migrations.Migration):
    dependencies = [("scoring", "0021_alert_baseline")]

    operations = [
        migrations.CreateModel(
            name="TagPlaces",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tag", models.CharField(blank=True, max_length=200)),
                ("positions", models.JSONField(null=True)),
                ("version", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="tag_places", to="scoring.datasetversion")),
            ],
            options={
                "verbose_name_plural": "tag places",
                "constraints": [models.UniqueConstraint(fields=("version", "tag"), name="tag_places_once")],
            },
        ),
        migrations.RunPython(_look_through, migrations.RunPython.noop),
    ]
