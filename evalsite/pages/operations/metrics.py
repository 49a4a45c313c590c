"""The figures of the site for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from scoring.engine.operations.site_figures import read_site_figures
from scoring.engine.processes.disk_space import is_out_of_space


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """All figures, for whoever has the token of EVALSITE_METRICS_TOKEN; without one, 404."""
    token = settings.EVALSITE_METRICS_TOKEN
    if not token:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    registry.register(SiteCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class SiteCollector(Collector):
    """Reads the figures when they are asked for: they are of the site, not of this process."""

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: the figures are not read before they are asked for."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        figures = read_site_figures()
        yield _gauge("workers", "Workers that are alive.", len(figures.workers))
        yield _gauge("worker_processes", "Processes that score.", figures.process_count)
        yield _gauge(
            "outputs_per_minute", "Outputs scored in the last minute.", figures.outputs_a_minute
        )
        yield _gauge("disk_full", "1 while the disk has no room.", int(is_out_of_space()))
        lengths = _gauge("queue_length", "Work that is not done.", labels=["queue"])
        ages = _gauge("queue_oldest_age_seconds", "Age of the oldest of it.", labels=["queue"])
        now = timezone.now()
        for queue in figures.queues:
            lengths.add_metric([queue.name], queue.length)
            if queue.oldest_since:
                ages.add_metric([queue.name], max(0.0, (now - queue.oldest_since).total_seconds()))
        yield lengths
        yield ages


def _gauge(
    name: str, text: str, value: float | None = None, labels: list[str] | None = None
) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"evalsite_{name}", text, value=value, labels=labels)
