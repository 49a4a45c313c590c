"""What goes over the wire, to whom it may go, and what a failure says."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.alerts import webhook
from scoring.engine.alerts.errors import SendError
from tests.engine.alerts.webhook_receiver import Receiver, is_signed
from tests.support.tls import self_signed_server

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = {"event": "alert.opened", "text": "Čísla klesla · 低下"}


def send(url: str, message: Any = MESSAGE) -> None:
    webhook.send_webhook(url, SECRET, "an-id", message, 1_700_000_000)


def refused(url: str) -> SendError:
    with pytest.raises(SendError) as fault:
        send(url)
    return fault.value


def test_the_signature_is_that_of_the_specifications_example() -> None:
    """Standard Webhooks, the example of its reference libraries."""
    made = webhook.signature(
        SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_is_posted_as_signed_json(settings: Settings) -> None:
    with Receiver(204) as receiver:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({receiver.host})
        send(receiver.url)
    (sent,) = receiver.sent
    assert sent.path == "/in?team=1"
    assert json.loads(sent.body) == MESSAGE
    assert sent.headers["content-type"] == "application/json"
    assert (sent.headers["webhook-id"], sent.headers["webhook-timestamp"]) == (
        "an-id",
        "1700000000",
    )
    assert is_signed(sent, SECRET)
    assert not is_signed(sent._replace(body=sent.body + b" "), SECRET)
    assert not is_signed(sent, "whsec_" + "A" * 32)


@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500, 503])
def test_any_other_answer_is_a_failure_worth_another_try(settings: Settings, status: int) -> None:
    with Receiver(status) as receiver:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({receiver.host})
        fault = refused(receiver.url)
    assert (fault.text, fault.is_final) == (f"it answered {status}", False)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(settings: Settings, status: int) -> None:
    with Receiver() as inner, Receiver(status, headers={"Location": inner.url}) as receiver:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({receiver.host, inner.host})
        fault = refused(receiver.url)
    assert fault.is_final
    assert "another address" in fault.text
    assert inner.sent == []


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://0.0.0.0/",
        "https://10.1.2.3/",
        "https://172.16.0.1/",
        "https://192.168.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.100.100.200/",
        "https://[fe80::1]/",
        "https://[fc00::1]/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://printer.local/",
        "https://intranet/",
        "http://hooks.example.org/",
        "https://user:word@hooks.example.org/",
        "file:///etc/passwd",
    ],
)
def test_the_own_network_is_never_called(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, url: str
) -> None:
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset()
    settings.EVALSITE_MODEL_HOSTS = frozenset({"127.0.0.1", "localhost", "10.0.0.0/8"})
    monkeypatch.setattr(webhook, "_post", lambda *_: pytest.fail("it was called"))
    assert refused(url).is_final


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
def test_a_name_that_leads_inwards_is_not_connected_to(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, address: str
) -> None:
    """What a name server says at the time of the call decides, not what it said at saving."""
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset()

    def leads(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]

    monkeypatch.setattr(socket, "getaddrinfo", leads)
    fault = refused("https://hooks.example.org/in")
    assert (fault.is_final, f"leads to {address}" in fault.text) == (True, True)


def test_who_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.2)
    with Receiver() as receiver:
        receiver.hangs.clear()
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({receiver.host})
        fault = refused(receiver.url)
    assert (fault.text, fault.is_final) == ("no answer within 0.2 s", False)


def test_who_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Each byte comes in time, and the whole does not."""
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.3)
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({host})

        def drip() -> None:
            peer, _ = server.accept()
            with peer:
                while not done.wait(0.05):
                    try:
                        peer.send(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        fault = refused(f"http://{host}/")
        done.set()
        thread.join()
    assert not fault.is_final


def test_nobody_there_is_a_failure_worth_another_try(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset({host})
    fault = refused(f"http://{host}/")
    assert (fault.text, fault.is_final) == ("it could not be reached (ConnectError)", False)


def test_the_body_of_an_answer_does_not_matter(settings: Settings) -> None:
    """Packed, say, or larger than any reply that is read."""
    with Receiver(200, headers={"Content-Encoding": "gzip"}) as receiver:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({receiver.host})
        send(receiver.url)
    assert len(receiver.sent) == 1


def test_a_certificate_that_nobody_vouches_for_is_named(settings: Settings, tmp_path: Path) -> None:
    with self_signed_server(tmp_path) as host:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({host})
        fault = refused(f"https://{host}/")
    assert fault.text == "its encrypted connection is not to be trusted (self-signed certificate)"
    assert not fault.is_final
