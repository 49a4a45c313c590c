"""A stub of an OpenID Connect provider on the loopback interface, after OpenID Connect Core 1.0."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT_ID: Final = "evalsite"
CLIENT_SECRET: Final = "the site's own secret"
KEY: Final = "what the provider signs with, which nobody else knows"


class IdentityProvider:
    """Lets in whoever `person` is; what it is asked for is checked as the standard says.

    `person` are the claims of the user-info endpoint. `broken` names an endpoint that answers with
    something else; `token_subject` is whom the ID token speaks of, where that is somebody else.
    """

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.broken = ""
        self.token_subject = ""
        self.denies = False
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: set[str] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[IdentityProvider]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def configuration(self) -> dict[str, Any]:
        ends = ("authorization", "token", "userinfo")
        return {
            "issuer": self.issuer,
            **{f"{end}_endpoint": f"{self.issuer}/{end}" for end in ends},
            "jwks_uri": f"{self.issuer}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser goes back to."""
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert "openid" in query["scope"].split()
        if self.denies:
            said = {"error": "access_denied"}
        else:
            code = f"code {len(self._codes)}"
            self._codes[code] = query
            said = {"code": code}
        return f"{query['redirect_uri']}?{urlencode({**said, 'state': query['state']})}"

    def exchange(self, form: dict[str, str]) -> dict[str, Any]:
        """Tokens for a code, once, for whoever has begun."""
        begun = self._codes.pop(form["code"])
        assert form["client_secret"] == CLIENT_SECRET
        assert form["redirect_uri"] == begun["redirect_uri"]
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert challenge == begun["code_challenge"]
        token = f"token {len(self._tokens)}"
        self._tokens.add(token)
        now = int(time.time())
        claims: dict[str, Any] = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60}
        claims["sub"] = self.token_subject or self.person.get("sub", "")
        identity = jwt.encode(claims, KEY, "HS256")
        return {"access_token": token, "token_type": "Bearer", "id_token": identity}

    def userinfo(self, authorization: str) -> dict[str, Any]:
        assert authorization.removeprefix("Bearer ") in self._tokens
        return self.person


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            if url.path == "/authorization":
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            elif url.path == "/userinfo":
                self._answer(url.path, provider.userinfo(self.headers["Authorization"]))
            else:
                self._answer("/configuration", provider.configuration())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer("/token", provider.exchange(form))

        def _answer(self, path: str, answer: dict[str, Any]) -> None:
            is_broken = path.strip("/") == provider.broken
            body = b"<html>" if is_broken else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Tests print nothing."""

    return Handler
