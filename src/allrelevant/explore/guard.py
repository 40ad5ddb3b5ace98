"""Who may talk to the explorer: only a page of its own, opened with its token, on this machine."""

from __future__ import annotations

import hmac
import secrets
from typing import Any
from urllib.parse import urlencode, urlsplit

__all__ = ["Guard"]

#: Largest body of a request, in bytes; the largest state of a page that can be undone a hundred times is far smaller.
LARGEST = 8 * 2**20

REFUSED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Not allowed</title>
<body style="font-family:system-ui;max-width:40rem;margin:4rem auto;line-height:1.5"><h1>Not allowed</h1><p>{reason}</p>
<p>Open the address that was printed when the explorer was started: it ends in a token.</p></body></html>"""


class Guard:
    """Checks every request of a Flask server.

    The address that is printed holds a random token, as Jupyter's does. The first visit exchanges it for a cookie that
    scripts cannot read and that other sites cannot send. The names by which the server may be addressed are fixed, so
    that no other name can be made to point to it, and requests of pages of other origins are refused, also of pages of
    other servers on this machine, which browsers count as the same site. Bodies have a largest size.

    Parameters
    ----------
    token : str, default=None
        The token; a random one if None.
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.port = 0

    @property
    def hosts(self) -> set[str]:
        """Names by which the server may be addressed."""
        return {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers do not tell ports apart."""
        return f"allrelevant-{self.port}"

    def install(self, server: Any) -> None:
        """Check the requests of a server."""
        server.config["MAX_CONTENT_LENGTH"] = LARGEST
        server.before_request(self._check)
        server.after_request(self._seal)

    def _check(self) -> Any:
        from flask import redirect, request

        if request.host not in self.hosts:
            return self._refuse("The server was addressed by another name than its own.")
        if self._is_foreign(request):
            return self._refuse("The request comes from a page of another origin.")
        given = request.args.get("token")
        if given is not None and request.method == "GET" and request.path == "/" and self._is_token(given):
            rest = [(key, value) for key, value in request.args.items(multi=True) if key != "token"]
            response = redirect("/" + (f"?{urlencode(rest)}" if rest else ""))
            response.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict", path="/")
            return response
        if not self._is_token(request.cookies.get(self.cookie, "")):
            return self._refuse("The token is missing or wrong.")
        return None

    def _is_foreign(self, request: Any) -> bool:
        """Return whether a page of another origin sends the request; it may lead to the page, but nowhere else."""
        own = {f"http://{host}" for host in self.hosts}
        origin = request.headers.get("Origin")
        if origin is not None and origin not in own:
            return True
        if (
            request.method == "GET"
            and request.path == "/"
            and request.headers.get("Sec-Fetch-Mode") in (None, "navigate")
        ):
            return False
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return True
        before = request.headers.get("Referer")
        return before is not None and _origin(before) not in own

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    @staticmethod
    def _refuse(reason: str) -> tuple[str, int]:
        return REFUSED.format(reason=reason), 403

    @staticmethod
    def _seal(response: Any) -> Any:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = response.headers.get("Cache-Control", "no-store")
        return response


def _origin(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"
