"""`{% asset "site.css" %}` is the address of one of the site's files, which changes with it."""

from __future__ import annotations

from django import template

from evalsite.rendering.assets import asset_url

register = template.Library()
register.simple_tag(asset_url, name="asset")
