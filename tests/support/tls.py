"""Servers on 127.0.0.1 whose encryption nobody should trust."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.waiting import DEADLINE_SECONDS


@contextmanager
def self_signed_server(folder: Path) -> Iterator[str]:
    """The host and port of a server with a certificate that it has signed itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_shake_hands, args=[listener, context])
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        with suppress(OSError), socket.create_connection(listener.getsockname()):
            pass  # wakes a server that nobody has called
        thread.join(DEADLINE_SECONDS)


def _shake_hands(listener: socket.socket, context: ssl.SSLContext) -> None:
    peer, _ = listener.accept()
    with suppress(OSError), context.wrap_socket(peer, server_side=True) as encrypted:
        encrypted.recv(1)


def _certificate(folder: Path) -> Path:
    """A file with a key and a certificate for 127.0.0.1, valid around today."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "server.pem"
    path.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
    return path
