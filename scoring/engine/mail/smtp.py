"""Sends a message through the site's mail server, which may be slow, silent or gone."""

from __future__ import annotations

import smtplib
import socket
import threading
from typing import Any, Final

from django.core.mail import EmailMessage
from django.core.mail.backends import smtp

#: From connecting to the last answer. Django's own limit is for each step, however many there are.
SECONDS: Final = 30.0


class MailError(Exception):
    """Why the mail server did not take a message."""


def send(message: EmailMessage) -> None:
    """Raises MailError, which does not tell what the server said: it may quote a password."""
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused:
        raise MailError("the mail server refused the address") from None
    except (smtplib.SMTPException, OSError) as fault:
        raise MailError(f"the mail server could not be used ({type(fault).__name__})") from None


class EmailBackend(smtp.EmailBackend):
    """Django's, whose connection is cut once it has lasted SECONDS."""

    @property
    def connection_class(self) -> Any:
        return TimedSmtpTls if self.use_ssl else TimedSmtp


class _Timed:
    """Cuts the connection when its time is over, whatever step it is at."""

    _timer: threading.Timer | None = None
    _watched: socket.socket | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connected: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        # A descriptor of its own, for encryption replaces the socket and the file that reads it.
        self._watched = connected.dup()
        self._timer = threading.Timer(SECONDS, _cut, [self._watched])
        self._timer.daemon = True
        self._timer.start()
        return connected

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if self._timer and self._watched:
            self._timer.cancel()
            self._watched.close()


class TimedSmtp(_Timed, smtplib.SMTP):
    pass


class TimedSmtpTls(_Timed, smtplib.SMTP_SSL):
    pass


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended by itself
    finally:
        connection.close()
