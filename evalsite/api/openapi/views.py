"""The OpenAPI schema as JSON, and the page that shows it."""

from __future__ import annotations

from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation


class SchemaView(SpectacularJSONAPIView):
    """The schema as JSON."""

    content_negotiation_class = DefaultContentNegotiation


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI without inline scripts or styles, which the site's policy forbids."""

    content_negotiation_class = DefaultContentNegotiation
    url_name = "api_schema"
    template_name = "api/docs.html"
