"""The marks of a drift chart: what each says and leads to, as the template engine would set it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from django.template import Context, Template

from evalsite.pages.drift.figure import DriftFigure
from scoring.engine.drift import DriftLine, drift_lines, measure_series
from scoring.models import Baseline, DatasetVersion
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week

#: What one mark, one step and one bar are, in the language of all other pages.
MARKS = """{% load l10n %}{% localize off %}
{% for point in points %}{% if point.mark.y is not None %}
<a href="{{ point.run_url }}" class="{{ point.classes }}" data-drift-mark="{{ point.mark.x }}"
   data-place="{{ point.mark.place }}" aria-label="{{ point.text }}">
  <svg x="{{ point.x }}" y="{{ point.mark.y }}"><circle class="drift-reach" r="12" />
    {% if point.mark.is_change %}<path d="M0-7 7 0 0 7-7 0z" />
    {% else %}<circle r="3.5" />{% endif %}
    {% if point.mark.is_outside %}<circle class="drift-ring" r="7.5" />{% endif %}</svg></a>
{% endif %}{% endfor %}{% endlocalize %}"""
STEPS = """{% for point in points %}{% if point.segment %}
<a href="{{ point.compare_url }}" class="drift-step" tabindex="-1"
   aria-label="Compare {{ point.flips_text|default:point.mark.label }}">
  <title>{{ point.flips_text }}</title><polyline points="{{ point.segment }}" /></a>
{% endif %}{% endfor %}"""
BARS = """{% load l10n %}{% localize off %}{% for point in points %}{% if point.bar %}
<a href="{{ point.compare_url }}" class="drift-flips" data-place="{{ point.bar.place }}"
   aria-label="Compare {{ point.flips_text }}"><title>{{ point.flips_text }}</title>
  <rect class="drift-reach" x="{{ point.bar.x }}" width="{{ point.bar.width }}" y="0"
        height="{{ height }}" />
  <rect class="drift-fixed" x="{{ point.bar.x }}" width="{{ point.bar.width }}"
        y="{{ point.bar.fixed_y }}" height="{{ point.bar.fixed_height }}" />
  <rect class="drift-broke" x="{{ point.bar.x }}" width="{{ point.bar.width }}"
        y="{{ point.bar.broke_y }}" height="{{ point.bar.broke_height }}" /></a>
{% endif %}{% endfor %}{% endlocalize %}"""

#: The level falls, and later for one run; one has no mean.
MEANS = [0.9] * 9 + [0.6] * 9 + [0.62, None, 0.2, 0.6]
HOSTILE = "\"><img src=x onerror='alert(1)'> & {{ 7 }} {% now %}"


def line_of(version: DatasetVersion) -> DriftLine:
    for week, mean in enumerate(MEANS):
        letters = ("pppf", "ffpp", "pfpf")[week % 3] if mean is not None else "eeee"
        threshold = 0.7 if week < 15 else 0.5
        name = f"{HOSTILE} {week}" if week % 2 else ""
        run = run_in_week(version, week, mean, letters, name=name, threshold=threshold)
        if week == 2:
            Baseline.objects.pin(run, by=None)
    measure_series(version.dataset, "a")
    [line] = drift_lines(version.dataset)
    return line


Element = tuple[str, dict[str, str], str, list["Element"]]  # name, attributes, text, inside


def elements(markup: str) -> list[Element]:
    """The markup without the spaces between its elements."""
    return [plain(each) for each in ET.fromstring(f"<svg>{markup}</svg>")]


def plain(element: ET.Element) -> Element:
    text = (element.text or "").strip()
    return element.tag, dict(element.attrib), text, [plain(each) for each in element]


def render(template: str, figure: DriftFigure) -> list[Element]:
    context = {"points": figure.chart_points, "height": figure.chart.bars_height}
    return elements(Template(template).render(Context(context)))


def test_a_chart_is_what_the_template_engine_makes_of_it(
    db: None, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": f"q{number}"} for number in range(4)])
    figure = DriftFigure(line_of(version), "a-team")
    marks, steps, bars = map(elements, (figure.marks, figure.steps, figure.bars))
    assert marks == render(MARKS, figure)
    assert steps == render(STEPS, figure)
    assert bars == render(BARS, figure)
    assert len(marks) == len(MEANS) - 1  # one run has no mean
    assert len(steps) == len(MEANS) - 3  # none into or out of the run without a mean
    assert len(bars) == len(MEANS) - 1  # the first run has none before it
    shapes = [[inside[0] for inside in mark[3][0][3]] for mark in marks]
    assert ["circle", "path"] in shapes
    assert ["circle", "circle"] in shapes
    assert any(len(shape) == 3 for shape in shapes), "a run outside the limits has a ring"
    for markup in (figure.marks, figure.steps, figure.bars):
        assert "<img" not in markup
        assert "&lt;img src=x onerror=&#x27;alert(1)&#x27;&gt; &amp; {{ 7 }} {% now %}" in markup
