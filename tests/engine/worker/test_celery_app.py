from __future__ import annotations

from scoring.engine.worker.celery_app import SHARDS_QUEUE, app


def test_a_worker_knows_the_task_and_its_queue() -> None:
    app.loader.import_default_modules()
    task = app.tasks["scoring.score_shard"]
    assert (task.acks_late, task.reject_on_worker_lost, task.ignore_result) == (True, True, True)
    assert app.amqp.router.route({}, task.name)["queue"].name == SHARDS_QUEUE
