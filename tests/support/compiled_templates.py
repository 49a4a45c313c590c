"""Compiles every template, and names those with a fault.

python -m tests.support.compiled_templates
"""

from __future__ import annotations

import sys
from typing import Any

import django
from django.template import TemplateDoesNotExist, TemplateSyntaxError, engines
from django.template.loader_tags import ExtendsNode, IncludeNode

from tests.support.paths import ROOT


def faults() -> list[str]:
    """One line for each template that its engine refuses or that names one that is not there."""
    found = []
    folder = ROOT / "templates"
    for path in sorted(each for each in folder.rglob("*.*") if each.is_file()):
        engine = engines["rows" if path.suffix == ".jinja" else "django"]
        name = str(path.relative_to(folder))
        try:
            template: Any = engine.get_template(name)
            for wanted in _named(template.template):
                engine.get_template(wanted)
        except TemplateSyntaxError as fault:
            found.append(f"{name}: {fault}")
        except TemplateDoesNotExist as missing:
            found.append(f"{name}: there is no {missing}")
    return found


def _named(template: Any) -> list[str]:
    """The templates that a Django template includes or extends by a name that stands in it."""
    nodes = getattr(template, "nodelist", None)
    if nodes is None:
        return []
    named = [node.template for node in nodes.get_nodes_by_type(IncludeNode)]
    named += [node.parent_name for node in nodes.get_nodes_by_type(ExtendsNode)]
    return [each.var for each in named if isinstance(each.var, str)]


if __name__ == "__main__":
    django.setup()
    sys.exit("\n".join(faults()) or None)
