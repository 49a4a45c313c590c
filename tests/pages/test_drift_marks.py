"""The marks of a drift chart: what each says and leads to, as the template engine would set it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from django.template import Context, Template

from evalsite.pages.drift_figure import DriftFigure
from scoring.engine.drift import Line, lines_of, measure
from scoring.models import Baseline, DatasetVersion
from tests.conftest import MakeDataset
from tests.drifting import run_in_week

#: What one mark, one step and one bar are, in the language of all other pages.
MARKS = """{% load l10n %}{% localize off %}{% for spot in spots %}{% if spot.mark.y is not None %}
<a href="{{ spot.run_url }}" class="{{ spot.look }}" data-drift-mark="{{ spot.mark.x }}"
   data-place="{{ spot.mark.place }}" aria-label="{{ spot.says }}">
  <svg x="{{ spot.x }}" y="{{ spot.mark.y }}"><circle class="drift-reach" r="12" />
    {% if spot.mark.is_change %}<path d="M0-7 7 0 0 7-7 0z" />
    {% else %}<circle r="3.5" />{% endif %}
    {% if spot.mark.is_outside %}<circle class="drift-ring" r="7.5" />{% endif %}</svg></a>
{% endif %}{% endfor %}{% endlocalize %}"""
STEPS = """{% for spot in spots %}{% if spot.segment %}
<a href="{{ spot.compare_url }}" class="drift-step" tabindex="-1"
   aria-label="Compare {{ spot.flips_say|default:spot.mark.label }}">
  <title>{{ spot.flips_say }}</title><polyline points="{{ spot.segment }}" /></a>
{% endif %}{% endfor %}"""
BARS = """{% load l10n %}{% localize off %}{% for spot in spots %}{% if spot.bar %}
<a href="{{ spot.compare_url }}" class="drift-flips" data-place="{{ spot.bar.place }}"
   aria-label="Compare {{ spot.flips_say }}"><title>{{ spot.flips_say }}</title>
  <rect class="drift-reach" x="{{ spot.bar.x }}" width="{{ spot.bar.width }}" y="0"
        height="{{ height }}" />
  <rect class="drift-fixed" x="{{ spot.bar.x }}" width="{{ spot.bar.width }}"
        y="{{ spot.bar.fixed_y }}" height="{{ spot.bar.fixed_height }}" />
  <rect class="drift-broke" x="{{ spot.bar.x }}" width="{{ spot.bar.width }}"
        y="{{ spot.bar.broke_y }}" height="{{ spot.bar.broke_height }}" /></a>
{% endif %}{% endfor %}{% endlocalize %}"""

#: The level falls, two runs lie beyond the limits, one has no mean.
MEANS = [0.9] * 9 + [0.6] * 9 + [0.62, None, 0.2, 0.95]
HOSTILE = "\"><img src=x onerror='alert(1)'> & {{ 7 }} {% now %}"


@pytest.fixture
def figure(db: None, make_dataset: MakeDataset) -> DriftFigure:
    version = make_dataset([{"key": f"q{number}"} for number in range(4)])
    return DriftFigure(line_of(version), "a-team")


def line_of(version: DatasetVersion) -> Line:
    for week, mean in enumerate(MEANS):
        letters = ("pppf", "ffpp", "pfpf")[week % 3] if mean is not None else "eeee"
        threshold = 0.7 if week < 15 else 0.5
        name = f"{HOSTILE} {week}" if week % 2 else ""
        run = run_in_week(version, week, mean, letters, name=name, threshold=threshold)
        if week == 2:
            Baseline.objects.pin(run, by=None)
    measure(version.dataset, "a")
    [line] = lines_of(version.dataset)
    return line


Element = tuple[str, dict[str, str], str, list["Element"]]  # name, attributes, text, inside


def elements(markup: str) -> list[Element]:
    """The markup without the spaces between its elements."""
    return [plain(each) for each in ET.fromstring(f"<svg>{markup}</svg>")]


def plain(element: ET.Element) -> Element:
    text = (element.text or "").strip()
    return element.tag, dict(element.attrib), text, [plain(each) for each in element]


def told(template: str, figure: DriftFigure) -> list[Element]:
    context = {"spots": figure.spots, "height": figure.chart.bars_height}
    return elements(Template(template).render(Context(context)))


def test_marks_are_what_the_template_engine_makes_of_them(figure: DriftFigure) -> None:
    found = elements(figure.marks)
    assert found == told(MARKS, figure)
    assert len(found) == len(MEANS) - 1  # one run has no mean
    shapes = [[inside[0] for inside in mark[3][0][3]] for mark in found]
    assert ["circle", "path"] in shapes
    assert ["circle", "circle"] in shapes
    assert any(len(shape) == 3 for shape in shapes), "a run outside the limits has a ring"


def test_steps_are_what_the_template_engine_makes_of_them(figure: DriftFigure) -> None:
    found = elements(figure.steps)
    assert found == told(STEPS, figure)
    assert len(found) == len(MEANS) - 3  # none into or out of the run without a mean


def test_bars_are_what_the_template_engine_makes_of_them(figure: DriftFigure) -> None:
    found = elements(figure.bars)
    assert found == told(BARS, figure)
    assert len(found) == len(MEANS) - 1  # the first run has none before it


def test_names_from_outside_stay_text(figure: DriftFigure) -> None:
    for markup in (figure.marks, figure.steps, figure.bars):
        assert "<img" not in markup
        assert "&lt;img src=x onerror=&#x27;alert(1)&#x27;&gt; &amp; {{ 7 }} {% now %}" in markup


def test_a_step_whose_flips_are_not_counted_yet_is_named_by_its_run(
    db: None, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "q"}])
    for week in (1, 2):
        run_in_week(version, week, 0.5, "p")
    [line] = lines_of(version.dataset)
    figure = DriftFigure(line, "a-team")
    assert [step[1]["aria-label"] for step in elements(figure.steps)] == ["Compare w2"]
    assert elements(figure.steps) == told(STEPS, figure)
    assert figure.bars == ""
