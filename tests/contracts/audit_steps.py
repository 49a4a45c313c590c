"""What brings about the state in which an address of `audited` changes something."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scoring.engine import imports
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import (
    Connection,
    Invitation,
    Member,
    Notice,
    OutputSet,
    ReviewQueue,
    Role,
    Run,
    RunState,
    Score,
    Status,
    Team,
    Upload,
    UploadState,
    User,
)
from scoring.models.team.team import setup_token
from tests.contracts.addresses import parameters_of, url_of
from tests.pages.alerts.steps import HOOK, typed
from tests.pages.calibration.steps import judged_run
from tests.pages.connections.steps import filled
from tests.support.datasets import published_version
from tests.support.finished_runs import run_with
from tests.support.run_states import finished_run

Sent = Mapping[str, Any]
EMPTY: Final[Sent] = MappingProxyType({})
KEY: Final = "?key=case-1"
RULE: Final = {"kind": "no_data", "limit_no_data": "30", "scorer": ""}
CONNECTION: Final = filled(("small", "0.15", ""), name="second", key="sk-very-secret-0123456789")
OUTPUT: Final = {"key": "case-1", "output": "a"}


@dataclass
class Desk:
    """An administrator of the team before one of everything; `house` is by parameter."""

    client: Client
    team: Team
    alice: User
    house: dict[str, Any]
    make_set: Callable[..., OutputSet]

    def url(self, name: str, kind: str = "page") -> str:
        return url_of(kind, name, parameters_of(kind, name), self.house, self.team)

    def send(
        self,
        name: str,
        sent: Sent = EMPTY,
        kind: str = "page",
        method: str = "post",
        query: str = "",
    ) -> Any:
        url = self.url(name, kind) + query
        if kind == "page":
            return self.client.post(url, dict(sent))
        body = json.dumps(dict(sent))
        return getattr(self.client, method)(url, body, content_type="application/json")

    def shown(self, name: str, query: str = "") -> dict[str, Any]:
        """What a browser would send of the form at this address."""
        form = self.client.get(self.url(name) + query).context["form"]
        return {field.html_name: field.value() for field in form if field.value()}

    def uid(self, noun: str) -> str:
        return str(self.house[noun].uuid)


def nothing(_: Desk) -> None:
    pass


@dataclass(frozen=True)
class Change:
    """What is sent, after what, and the action of the entry that is left; "" for none.

    `then` does the worker's part; `touches` are the tables that a change without an entry may
    write, and `reason` says why it leaves none.
    """

    action: str = ""
    sent: Sent | Callable[[Desk], Sent] = field(default_factory=dict)
    first: Callable[[Desk], Any] = nothing
    then: Callable[[Desk], Any] = nothing
    query: str = ""
    method: str = "post"
    touches: frozenset[type] = frozenset()
    reason: str = ""

    def make(self, desk: Desk, kind: str, name: str) -> Any:
        """The answer; what goes before it was done already."""
        sent = self.sent(desk) if callable(self.sent) else self.sent
        answer = desk.send(name, sent, kind, self.method, self.query)
        self.then(desk)
        return answer


def case(desk: Desk) -> Sent:
    """The form of a case with another input."""
    form = desk.client.get(desk.url("draft_case") + KEY).context["form"]
    values = {field.name: field.value() for field in form}
    return {k: "" if v is None else v for k, v in values.items()} | {"input": "Another?"}


def edited(desk: Desk) -> None:
    desk.send("draft_case", case(desk), query=KEY)


def posted(*names: str) -> Callable[[Desk], None]:
    """These addresses before, each without more than its name."""
    return lambda desk: [desk.send(name) for name in names] and None


def pooled(desk: Desk) -> None:
    """The queue's cases are taken from a pool."""
    ReviewQueue.objects.filter(pk=desk.house["review"].pk).update(is_pooled=True)


def joined(desk: Desk) -> None:
    pooled(desk)
    desk.send("join_review_queue")


def review_file(_: Desk) -> Sent:
    rows = b"key,reviewer,verdict\ncase-1,Jo,pass\n"
    return {"file": SimpleUploadedFile("reviews.csv", rows)}


def other_reviewer(desk: Desk) -> Sent:
    """All tasks of the administrator go to somebody else."""
    other = User.objects.create_user("rita@example.org")
    Member.objects.create(team=desk.team, user=other, role=Role.REVIEWER)
    return {"old": str(desk.alice.pk), "new": str(other.pk)}


def judged(desk: Desk) -> None:
    """A run that a judge scored, in place of the run."""
    desk.house["run"] = judged_run(desk.make_set(["yes", "no"], "Judged"), ["a", "b"])


def finished(desk: Desk) -> None:
    """A finished run, in place of the run."""
    desk.house["run"] = finished_run(desk.make_set(["yes", "no"], "Scored"))


def with_an_old_threshold(desk: Desk) -> None:
    """A run with another threshold than its suite has now, in place of the run."""
    run = run_with(desk.house["dataset"].latest, {"same": [0.6, 0.6]})
    suite = desk.house["suite"]
    Run.objects.filter(pk=run.pk).update(suite=suite, suite_name=suite.name)
    desk.house["run"] = run


def over_an_older_version(desk: Desk) -> None:
    """The run is finished, and its dataset has a later version."""
    run = finished_run(desk.make_set(["yes", "no"], "Older"))
    desk.house["run"], desk.house["dataset"] = run, run.output_set.version.dataset
    cases = [
        {"key": case.key, "input": case.input, "expected": "x"}
        for case in run.output_set.version.cases.order_by("position")
    ]
    published_version(desk.team, cases, "Older")
    desk.house["dataset"].refresh_from_db()


def run_jobs(_: Desk) -> None:
    """As the worker does."""
    runner = JobRunner(InlineExecutor())
    runner.step()
    runner.step()  # collects what the first one began


def finished_again(desk: Desk) -> None:
    """Two finished runs of one series, the second one in place of the run."""
    finished_run(desk.make_set(["no", "yes"], "Scored"))
    finished(desk)


def with_errors(desk: Desk) -> None:
    """A finished run with an error, in place of the run."""
    run = finished_run(desk.make_set(["yes", "no"], "Failed"))
    Score.objects.filter(scorer__run=run, output__case__position=1).update(
        status=Status.ERROR, score=None, verdict=None, code="timeout"
    )
    desk.house["run"] = run


def broken(desk: Desk) -> None:
    """Two runs of a case that broke, the candidate in place of the run."""
    version = desk.make_set(["yes"], "Broken").version
    desk.house["before"] = run_with(version, {"same": [1.0]})
    desk.house["run"] = run_with(version, {"same": [0.0]})


def accepted(desk: Desk) -> Sent:
    return {"do": "accepted", "baseline": desk.uid("before"), "place": "1"}


def api_accepted(desk: Desk) -> Sent:
    runs = {"baseline": desk.uid("before"), "candidate": desk.uid("run")}
    return {**runs, "state": "accepted", "cases": [{"key": "case-1"}]}


def api_waiver(desk: Desk) -> Sent:
    named = {"dataset": desk.uid("dataset"), "key": "case-1", "scorer": desk.uid("scorer")}
    return {**named, "until": "2999-12-31", "reason": "Known."}


def sent_file(desk: Desk) -> None:
    """An upload of cases, in place of the upload."""
    form = {"kind": "dataset", "file": SimpleUploadedFile("a.csv", b"id,input,expected\na,b,c\n")}
    desk.send("new_upload", form)
    desk.house["upload"] = Upload.objects.latest("pk")


def mapping(desk: Desk) -> Sent:
    page = desk.client.get(desk.url("upload")).context
    forms = (page["form"], page["reading"])
    return {field.html_name: field.value() or "" for form in forms for field in form}


def checked(desk: Desk) -> None:
    """A checked upload of cases, in place of the upload."""
    sent_file(desk)
    desk.send("upload", mapping(desk))
    desk.house["upload"].refresh_from_db()
    imports.check_upload(desk.house["upload"])


def second_connection(desk: Desk) -> None:
    """Another connection, in place of the connection."""
    desk.send("new_connection", CONNECTION)
    desk.house["connection"] = Connection.objects.get(name="second")


def load(desk: Desk) -> None:
    desk.house["upload"].refresh_from_db()
    imports.import_upload(desk.house["upload"])


def imported(desk: Desk) -> None:
    """An upload of cases that was imported, in place of the upload."""
    checked(desk)
    desk.send("load_upload")
    load(desk)


def at_rest(_: Desk) -> None:
    """No run is under way, and no upload."""
    Run.objects.update(state=RunState.FINISHED)
    Upload.objects.update(state=UploadState.CANCELLED)


def noticed(desk: Desk) -> None:
    desk.house["read_notice"] = Notice.objects.create(
        user=desk.alice, run=desk.house["run"], text="The run has ended."
    )


def first_person(desk: Desk) -> None:
    """A site without anybody, and the link that sets it up."""
    User.objects.all().delete()
    desk.house["token"] = setup_token()


def webhook(desk: Desk) -> None:
    desk.send("alert_rule", typed(**RULE, webhook_url=HOOK))


def newer_version(desk: Desk) -> None:
    desk.send("versions", {"cases": [{"key": "case-1", "input": "new"}]}, "api")


def same_cases_again(desk: Desk) -> None:
    """A second version, whose case asks the same."""
    desk.send("versions", {"cases": [{"key": "case-1", "input": "q", "expected": "b"}]}, "api")


def awaits_outputs(desk: Desk) -> None:
    """A run that was made without outputs, in place of the run."""
    answer = desk.send("runs", api_run(desk, outputs=[], final=False), "api").json()
    desk.house["run"] = desk.team.runs.get(uuid=answer["id"])


def has_outputs(desk: Desk) -> None:
    awaits_outputs(desk)
    desk.send("run_outputs", {"outputs": [OUTPUT], "final": False}, "api")


def api_run(desk: Desk, **more: Any) -> Sent:
    named = {"dataset": desk.uid("dataset"), "suite": desk.uid("suite"), "series": "a"}
    return {**named, "outputs": [OUTPUT], "final": True, **more}


def api_rule(desk: Desk) -> Sent:
    return {"dataset": desk.uid("dataset"), "kind": "no_data", "limit": 30}


def page_rule(desk: Desk) -> Sent:
    return typed(**RULE, dataset=desk.uid("dataset"))


def generation(desk: Desk) -> Sent:
    asked = {"model": "m", "template": "{{ input }}", "trials": "1"}
    return desk.shown("generate_run") | asked | {"suite": desk.uid("suite")}


def outputs_run(desk: Desk) -> Sent:
    return desk.shown("new_run", f"?outputs={desk.uid('outputs')}") | {"suite": desk.uid("suite")}


def second_admin(desk: Desk) -> int:
    """Another admin of the team."""
    user = User.objects.create_user("zoe@example.org", "a long word 7")
    return Member.objects.create(team=desk.team, user=user, role=Role.ADMIN).pk


def invited(desk: Desk) -> None:
    """The invitation of the house is the administrator's own."""
    Invitation.objects.update(email=desk.alice.email)


def own_token(desk: Desk) -> Sent:
    """What the form for a token of one's own sends."""
    member = Member.objects.get(team=desk.team, user=desk.alice)
    return {"name": "ci", "member": str(member.pk), "role": "3", "scopes": ["read"], "days": "30"}
