"""The Celery application: how shards are sent to workers of other machines, and how those run."""

from __future__ import annotations

import sys
from typing import Final

from celery import Celery
from django.conf import settings

from scoring.engine.worker.shard_scheduler import SHARD_SECONDS

SHARDS_QUEUE: Final = "shards"
MEMORY_LIMIT_KB: Final = 1_000_000  # a process that takes more is replaced after its shard

app = Celery("evalsite", include=["scoring.engine.worker.celery_tasks"])
app.conf.update(
    broker_url=settings.EVALSITE_BROKER_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # for ever
    task_default_queue=SHARDS_QUEUE,
    # A message is acknowledged once its shard is stored, and none waits behind a long shard.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_ignore_result=True,  # the rows tell what became of a shard
    task_time_limit=SHARD_SECONDS,
    worker_max_memory_per_child=MEMORY_LIMIT_KB,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    CELERY_DB_REUSE_MAX=sys.maxsize,  # a connection is tried before each shard, and kept
)
