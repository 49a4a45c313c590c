"""The addresses of review queues and of what is reviewed in them."""

from __future__ import annotations

from typing import Final

from django.urls import path

from evalsite.pages.review import (
    accepted_outputs,
    corrections,
    disagreements,
    files,
    older_runs,
    pairwise,
    preferences,
    questions,
    queues,
    tags,
    tasks,
)

_QUEUE: Final = "reviews/<uuid:uid>"
_TASK: Final = f"{_QUEUE}/cases/<int:number>"
_CORRECTIONS: Final = "datasets/<uuid:uid>/corrections"
_DISAGREEMENTS: Final = "runs/<uuid:uid>/disagreements"

urlpatterns = [
    path("teams/<slug:slug>/review/", queues.review, name="review"),
    path("teams/<slug:slug>/review/tags/", tags.failure_tags, name="failure_tags"),
    path("teams/<slug:slug>/review/tags/mark/", tags.mark_failure_tag, name="mark_failure_tag"),
    path(
        "teams/<slug:slug>/review/tags/remove/", tags.remove_failure_tag, name="remove_failure_tag"
    ),
    path("teams/<slug:slug>/review/questions/", questions.question_sets, name="question_sets"),
    path(
        "teams/<slug:slug>/review/questions/edit/",
        questions.edit_question_set,
        name="edit_question_set",
    ),
    path(
        "teams/<slug:slug>/review/questions/remove/",
        questions.remove_question_set,
        name="remove_question_set",
    ),
    path("runs/<uuid:uid>/review/new/", queues.new_queue, name="new_review_queue"),
    path("runs/<uuid:uid>/review/pairs/", pairwise.new_pairwise_queue, name="new_pairwise_queue"),
    path("runs/<uuid:uid>/reviews/", files.run_reviews, name="run_reviews"),
    path("runs/<uuid:uid>/reviews/export/", files.export_run_reviews, name="export_run_reviews"),
    path(
        "runs/<uuid:uid>/cases/<int:position>/correct/",
        corrections.propose_correction,
        name="propose_correction",
    ),
    path(
        "runs/<uuid:uid>/cases/<int:position>/accept/",
        accepted_outputs.accept_case_output,
        name="accept_case_output",
    ),
    path(
        "datasets/<uuid:uid>/score-again/",
        older_runs.dataset_older_runs,
        name="dataset_older_runs",
    ),
    path(
        "datasets/<uuid:uid>/preferences/",
        preferences.dataset_preferences,
        name="dataset_preferences",
    ),
    path("runs/<uuid:uid>/rescore/", corrections.rescore_run, name="rescore_run"),
    path(f"{_CORRECTIONS}/", corrections.dataset_corrections, name="dataset_corrections"),
    path(
        f"{_CORRECTIONS}/decide/", corrections.decide_corrections, name="decide_dataset_corrections"
    ),
    path(
        "corrections/<uuid:uid>/withdraw/",
        corrections.withdraw_correction,
        name="withdraw_correction",
    ),
    path(f"{_DISAGREEMENTS}/", disagreements.list_disagreements, name="disagreements"),
    path(
        f"{_DISAGREEMENTS}/<int:position>/",
        disagreements.adjudicate_case,
        name="adjudicate_disagreement",
    ),
    path(
        f"{_DISAGREEMENTS}/<int:position>/clear/",
        disagreements.clear_adjudication,
        name="clear_disagreement",
    ),
    path(f"{_QUEUE}/", queues.queue, name="review_queue"),
    path(f"{_QUEUE}/next/", tasks.next_case, name="next_review"),
    path(f"{_QUEUE}/export/", files.export_queue, name="export_review_queue"),
    path(f"{_QUEUE}/close/", queues.close, name="close_review_queue"),
    path(f"{_QUEUE}/reopen/", queues.reopen, name="reopen_review_queue"),
    path(f"{_QUEUE}/reassign/", queues.reassign_tasks, name="reassign_reviews"),
    path(f"{_QUEUE}/join/", queues.join_queue, name="join_review_queue"),
    path(f"{_QUEUE}/leave/", queues.leave_queue, name="leave_review_queue"),
    path(f"{_TASK}/", tasks.review_task, name="review_task"),
    path(f"{_TASK}/skip/", tasks.skip_task, name="skip_review_task"),
    path(f"{_TASK}/undo/", tasks.undo_task, name="undo_review_task"),
]
