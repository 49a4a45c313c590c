"""Mail servers that are slow, silent, rude or gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from django.core.mail import EmailMessage
from pytest_django.fixtures import Settings

from scoring.engine.mail import smtp
from scoring.engine.mail.smtp import MailError, send
from tests.support.waiting import DEADLINE_SECONDS

Script = Callable[[socket.socket, threading.Event], None]


@contextmanager
def server(settings: Settings, script: Script) -> Iterator[None]:
    """A mail server that plays this script, and through which the site sends."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings.EMAIL_BACKEND = "scoring.engine.mail.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = listener.getsockname()
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.EMAIL_TIMEOUT = DEADLINE_SECONDS

        def serve() -> None:
            with suppress(OSError), listener.accept()[0] as peer:
                script(peer, done)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(DEADLINE_SECONDS)


def message() -> EmailMessage:
    return EmailMessage("Subject", "Body", "from@example.org", ["to@example.org"])


def polite(peer: socket.socket, _: threading.Event) -> None:
    peer.sendall(b"220 ready\r\n")
    with peer.makefile("rb") as lines:
        for line in lines:
            word = line.split()[0].upper()
            answers = {b"EHLO": b"250 here\r\n", b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}
            peer.sendall(answers.get(word, b"250 ok\r\n"))
            if word == b"DATA":
                while lines.readline().strip() != b".":
                    pass
                peer.sendall(b"250 taken\r\n")
            if word == b"QUIT":
                return


def silent(_: socket.socket, done: threading.Event) -> None:
    done.wait(DEADLINE_SECONDS)


def dripping(peer: socket.socket, done: threading.Event) -> None:
    while not done.wait(0.02):
        peer.sendall(b"2")


def dripping_later(peer: socket.socket, done: threading.Event) -> None:
    peer.sendall(b"220 ready\r\n")
    peer.recv(1000)
    dripping(peer, done)


def test_a_message_is_sent(settings: Settings) -> None:
    with server(settings, polite):
        send(message())


@pytest.mark.parametrize("script", [silent, dripping, dripping_later])
def test_a_server_that_does_not_end_is_left(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    """Though each byte comes within the time limit of a step."""
    monkeypatch.setattr(smtp, "SECONDS", 0.2)
    with server(settings, script), pytest.raises(MailError, match="could not be used"):
        send(message())


def test_what_a_server_says_is_not_told(settings: Settings) -> None:
    def rude(peer: socket.socket, _: threading.Event) -> None:
        peer.sendall(b"554 word123\r\n")

    with server(settings, rude), pytest.raises(MailError) as fault:
        send(message())
    assert "word123" not in str(fault.value)


def test_a_server_that_is_gone_is_said_to_be(settings: Settings) -> None:
    with server(settings, polite):
        send(message())
    with pytest.raises(MailError, match=r"ConnectionRefusedError"):
        send(message())


def test_encryption_from_the_start_has_the_same_limit(settings: Settings) -> None:
    settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = False, True
    assert smtp.EmailBackend().connection_class is smtp.TimedSmtpTls
