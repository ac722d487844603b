"""Tells when the session of an MCP server, or the connection to it, has ended.

If a server no longer knows the session of a request, it has not processed the request. So the
request can be sent again in a new session.
"""

from __future__ import annotations

import re

from protocols.errors import Outcome, ToolError

SESSION_ENDED = -32_094
"""Code of the JSON-RPC error that stands for a response which says that the session has ended."""
_INVALID_REQUEST = -32_600
_METHOD_NOT_FOUND = -32_601
_SERVER_ERRORS = range(-32_099, -31_999)
"""JSON-RPC codes that a server may define itself."""
_OTHER_MEANING = (401, 403, 407, 429)
"""Statuses from 400 to 499 that are never about a session."""
_LONGEST = 1_000
"""Maximum number of characters of a text that only says that a session has ended."""
_SESSION = re.compile(r"\bsession([ _-]?ids?)?\b|mcp-session-id", re.IGNORECASE)
_GONE = re.compile(
    r"\b(not (found|valid|exist|active|recogni[sz]ed|known)|no (such|valid|active|longer)"
    r"|unknown|invalid|expired|missing|required|terminated|closed|ended|gone|stale|inactive"
    r"|unrecogni[sz]ed|(could ?n[o']t|can ?n?[o']t|unable to) find|doesn't exist)\b",
    re.IGNORECASE,
)
_NOT_BEGUN = re.compile(r"\b(not|before|un) ?initiali[sz](ed|ation)\b", re.IGNORECASE)
"""A server that was started anew has not seen the first message of the session."""


class ConnectionEnded(ToolError):
    """A call failed because the session or the connection has ended. A new one can be opened.

    The outcome is *not_run* if the server has not taken the call, and *unknown* if it may have.
    """

    def __init__(self, body: str, outcome: Outcome) -> None:
        super().__init__(None, body, outcome=outcome)


def status_ends_session(status: int, text: str, code: int | None) -> bool:
    """Return True if a response to a request of a session says that the session has ended.

    `text` is the body of the response, and `code` is that of its JSON-RPC error, or None. MCP says
    that status 404 means this. Servers also use other statuses and say it in words.
    """
    if not 400 <= status < 500 or status in _OTHER_MEANING or code == _METHOD_NOT_FOUND:
        return False
    return status == 404 or _says_ended(text)


def error_ends_session(code: int, message: str) -> bool:
    """Return True if a JSON-RPC error with status 200 says that the session has ended."""
    if code == SESSION_ENDED:
        return True
    return (code in _SERVER_ERRORS or code == _INVALID_REQUEST) and _says_ended(message)


def _says_ended(text: str) -> bool:
    """Return True if a short text says that a session is not known, or was never begun."""
    if len(text) > _LONGEST:
        return False
    about_session = _SESSION.search(text) and _GONE.search(text)
    return bool(about_session or _NOT_BEGUN.search(text))
