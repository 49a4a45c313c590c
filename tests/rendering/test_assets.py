"""The site's style and scripts are few files, compressed, and kept for a year by their name."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from evalsite.rendering import assets
from evalsite.rendering.assets import SCRIPTS, SOURCES, STYLES, asset, asset_url

STATIC = Path(settings.STATICFILES_DIRS[0])
FOR_REPORTS_ALONE = "report"
PACKED = {"Accept-Encoding": "gzip, deflate, br"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_is_kept_for_a_year(client: Client, name: str) -> None:
    answer = client.get(asset_url(name), headers=PACKED)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert "Set-Cookie" not in answer.headers
    assert gzip.decompress(answer.content) == asset(name).content


def test_a_browser_that_cannot_unpack_gets_it_plain(client: Client) -> None:
    answer = client.get(asset_url("site.css"))
    assert "Content-Encoding" not in answer.headers
    assert answer.content == asset("site.css").content


def test_a_page_of_the_version_before_gets_todays_file_and_keeps_it_not(client: Client) -> None:
    answer = client.get(reverse("asset", args=["site.0123456789ab.js"]))
    assert answer.content == asset("site.js").content
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["site.js", "other.0123456789ab.js", "..%2Fsettings.py", "site."])
def test_nothing_else_is_there(client: Client, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_the_name_follows_the_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In debugging each page looks whether a source changed."""
    monkeypatch.setattr(settings, "DEBUG", True)
    source = tmp_path / "icon.svg"
    monkeypatch.setattr(assets, "_paths", lambda name: (source,))
    names = []
    for text in ("<svg/>", "<svg></svg>"):
        source.write_text(text)
        assets._build.cache_clear()
        names.append(asset("icon.svg").hashed_name)
    assert names[0] != names[1]


def test_every_source_is_in_a_file() -> None:
    styles = {path.stem for path in (STATIC / "css").glob("*.css")}
    assert styles - set(STYLES) == {FOR_REPORTS_ALONE}
    assert {path.stem for path in (STATIC / "js").glob("*.js")} == set(SCRIPTS)


def test_scripts_share_no_names_and_import_nothing() -> None:
    """Put together each stands in a block of its own, where an import is an error."""
    sources = [path.read_text() for path in (STATIC / "js").glob("*.js")]
    assert [source for source in sources if re.search(r"(?m)^(import|export)\b", source)] == []
    assert asset("site.js").content.decode().count("\n}\n{\n") == len(SCRIPTS) - 1


def test_styles_name_no_other_file() -> None:
    assert b"url(" not in asset("site.css").content
