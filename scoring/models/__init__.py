"""The models of Evalsite, each beside its queryset."""

from scoring.models.alerts.alert import (
    Alert,
    AlertDelivery,
    AlertState,
    Channel,
    DeliveryState,
    Event,
)
from scoring.models.alerts.notice import Notice
from scoring.models.alerts.rule import AlertKind, AlertRule
from scoring.models.alerts.watch import AlertWatch, WatchState
from scoring.models.alerts.webhook import WebhookFormat
from scoring.models.case_list.tag_index import TagIndex
from scoring.models.data.dataset import Case, Dataset, DatasetVersion, VersionState
from scoring.models.data.draft import Draft, DraftEdit, DraftState, EditKind
from scoring.models.data.near_duplicate import NearDuplicate, VersionDuplicates
from scoring.models.data.upload import Upload, UploadKind, UploadState, Worker, WorkQueue
from scoring.models.data.version_changes import ChangeKind, Changes, VersionChanges
from scoring.models.job import Job, JobKind, JobState
from scoring.models.pairs.comparison import Baseline, Comparison
from scoring.models.pairs.pair_index import PairIndex
from scoring.models.reviews.adjudication import Adjudication
from scoring.models.reviews.case_decision import CaseDecision, CaseDecisionState
from scoring.models.reviews.comment import Comment
from scoring.models.reviews.correction import Correction, CorrectionState
from scoring.models.reviews.failure_tag import FailureTag
from scoring.models.reviews.preference import Preference, PreferenceVerdict
from scoring.models.reviews.question_set import QuestionSet
from scoring.models.reviews.queue import QueueOrder, ReviewQueue, ReviewTask, TaskReason
from scoring.models.reviews.review import Review, ReviewVerdict
from scoring.models.reviews.saved_view import SavedView
from scoring.models.reviews.scorer_stamp import ScorerStamp
from scoring.models.reviews.waiver import Waiver
from scoring.models.runs.generation import Generation
from scoring.models.runs.model_call import CallPurpose, Embedding, JudgeVariance, ModelCall
from scoring.models.runs.relabel import Relabel
from scoring.models.runs.release_decision import ReleaseDecision, ReleaseState
from scoring.models.runs.run import (
    Attempt,
    AttemptKind,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    Shard,
)
from scoring.models.runs.run_drift import DriftResult, LevelSums, RunDrift, RunStep
from scoring.models.runs.score import (
    CaseVerdict,
    RunSummary,
    Score,
    ScoreHistogram,
    Status,
    Verdict,
)
from scoring.models.scorers.connection import Connection
from scoring.models.scorers.endpoint_limit import EndpointLimit
from scoring.models.scorers.proposal import ProposalState, SuiteProposal, ThresholdProposal
from scoring.models.scorers.scorer import Scorer, ScorerVersion
from scoring.models.scorers.suite import Suite, SuiteEntry
from scoring.models.scorers.threshold_change import ThresholdChange
from scoring.models.team.attempt_counter import AttemptCounter
from scoring.models.team.audit_entry import AuditCheckpoint, AuditEntry
from scoring.models.team.group_role import GroupRole
from scoring.models.team.idempotency_key import IdempotencyKey
from scoring.models.team.invitation import Invitation, JoinLink
from scoring.models.team.outgoing_mail import OutgoingMail
from scoring.models.team.retention_policy import RetentionPolicy
from scoring.models.team.team import Member, Role, Scope, Team, Token, User

__all__ = [
    "Adjudication",
    "Alert",
    "AlertDelivery",
    "AlertKind",
    "AlertRule",
    "AlertState",
    "AlertWatch",
    "Attempt",
    "AttemptCounter",
    "AttemptKind",
    "AuditCheckpoint",
    "AuditEntry",
    "Baseline",
    "CallPurpose",
    "Case",
    "CaseDecision",
    "CaseDecisionState",
    "CaseVerdict",
    "ChangeKind",
    "Changes",
    "Channel",
    "Comment",
    "Comparison",
    "Connection",
    "Correction",
    "CorrectionState",
    "Dataset",
    "DatasetVersion",
    "DeliveryState",
    "Draft",
    "DraftEdit",
    "DraftState",
    "DriftResult",
    "EditKind",
    "Embedding",
    "EndpointLimit",
    "Event",
    "FailureTag",
    "Generation",
    "GroupRole",
    "IdempotencyKey",
    "Invitation",
    "Job",
    "JobKind",
    "JobState",
    "JoinLink",
    "JudgeVariance",
    "LevelSums",
    "Member",
    "ModelCall",
    "NearDuplicate",
    "Notice",
    "OutgoingMail",
    "Output",
    "OutputSet",
    "OutputSetState",
    "PairIndex",
    "Preference",
    "PreferenceVerdict",
    "ProposalState",
    "QuestionSet",
    "QueueOrder",
    "Relabel",
    "ReleaseDecision",
    "ReleaseState",
    "RetentionPolicy",
    "Review",
    "ReviewQueue",
    "ReviewTask",
    "ReviewVerdict",
    "Role",
    "Run",
    "RunDrift",
    "RunScorer",
    "RunState",
    "RunStep",
    "RunSummary",
    "SavedView",
    "Scope",
    "Score",
    "ScoreHistogram",
    "Scorer",
    "ScorerStamp",
    "ScorerVersion",
    "Shard",
    "Status",
    "Suite",
    "SuiteEntry",
    "SuiteProposal",
    "TagIndex",
    "TaskReason",
    "Team",
    "ThresholdChange",
    "ThresholdProposal",
    "Token",
    "Upload",
    "UploadKind",
    "UploadState",
    "User",
    "Verdict",
    "VersionChanges",
    "VersionDuplicates",
    "VersionState",
    "Waiver",
    "WatchState",
    "WebhookFormat",
    "WorkQueue",
    "Worker",
]
