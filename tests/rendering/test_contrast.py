"""Every text of the site is legible on every ground it may stand on, in light and in dark."""

from __future__ import annotations

import re
from itertools import product
from math import cos, radians, sin
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CSS = ROOT / "static" / "css"
GROUNDS = ("paper", "raised", "wash", "selected", "added", "removed", "warned")
TEXTS = ("ink", "ink-muted", "accent", "pass", "fail", "error", "skipped", "baseline", "candidate")
BOUNDS = ("paper", "raised", "wash", "selected")
THEMES = ("light", "dark")

Colour = tuple[float, float, float]


def linear_srgb(lightness: float, chroma: float, hue: float) -> Colour:
    """OKLCH → linear sRGB, after Björn Ottosson's definition of Oklab."""
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def luminance(colour: Colour) -> float:
    """WCAG's relative luminance of an OKLCH colour."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in linear_srgb(*colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def read_tokens() -> dict[str, dict[str, Colour]]:
    """Token → theme → colour; the first definition, so that print's white paper is left out."""
    css = (CSS / "tokens.css").read_text()
    oklch = r"oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)"
    found: dict[str, dict[str, Colour]] = {}
    for name, *parts in re.findall(rf"--([\w-]+): light-dark\({oklch}, {oklch}\)", css):
        numbers = [float(part) for part in parts]
        colours = ((numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4], numbers[5]))
        found.setdefault(name, dict(zip(THEMES, colours, strict=True)))
    for name, target in re.findall(r"--([\w-]+): var\(--([\w-]+)\);", css):
        found[name] = found[target]
    return found


TOKENS = read_tokens()


@pytest.mark.parametrize(("text", "ground"), list(product(TEXTS, GROUNDS)))
@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_from_its_ground(text: str, ground: str, theme: str) -> None:
    assert contrast(TOKENS[text][theme], TOKENS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_the_accent_stands_out(theme: str) -> None:
    assert contrast(TOKENS["on-accent"][theme], TOKENS["accent"][theme]) >= 4.5


@pytest.mark.parametrize("ground", BOUNDS)
@pytest.mark.parametrize("theme", THEMES)
def test_lines_around_controls_stand_out(ground: str, theme: str) -> None:
    assert contrast(TOKENS["line-strong"][theme], TOKENS[ground][theme]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_is_one_that_a_plain_screen_can_show(theme: str) -> None:
    outside = {
        name
        for name, colours in TOKENS.items()
        if not all(-0.001 <= part <= 1.001 for part in linear_srgb(*colours[theme]))
    }
    assert outside == set()


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ((1, 0, 0), (0, 0, 0), 21),
        ((1, 0, 0), (1, 0, 0), 1),
        # sRGB red and blue against white, from the WCAG formula on their sRGB values.
        ((0.6279554, 0.2576833, 29.2338803), (1, 0, 0), 3.998),
        ((0.4520137, 0.3132144, 264.0520207), (1, 0, 0), 8.592),
    ],
)
def test_contrast_agrees_with_known_colours(one: Colour, other: Colour, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.002)


@pytest.mark.parametrize("sheet", sorted(CSS.glob("*.css")), ids=lambda sheet: sheet.name)
def test_colours_are_written_in_tokens_alone(sheet: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
    plain = re.findall(r"#[0-9a-f]{3,8}\b|(?:rgb|hsl|oklch)\((?!0 0 0 /)[^)]*\)", text)
    assert sheet.name == "tokens.css" or plain == []


def test_every_property_used_is_defined() -> None:
    sheets = "".join(sheet.read_text() for sheet in CSS.glob("*.css"))
    defined = set(re.findall(r"--([\w-]+):", sheets))
    assert set(re.findall(r"var\(--([\w-]+)\)", sheets)) <= defined
