"""What the servers that tests start have in common: an account without rights, and an end."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pwd import getpwnam
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1
_libc = ctypes.CDLL(None)


def unprivileged(accounts: Sequence[str]) -> dict[str, Any]:
    """Whom subprocess runs a server as: the first of the accounts, where we are root."""
    if os.geteuid() != 0:
        return {}
    for name in accounts:
        with suppress(KeyError):
            account = getpwnam(name)
            return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise OSError("there is no account that the server could run as")


def ends_with_parent(how: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn` that makes one system call."""

    def begin() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, how)

    return begin


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
