"""Which MCP server is meant: a command of this machine or an address, and what its user says of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.errors import SourceUnavailable
from protocols.origin import split_url
from protocols.sources.server import is_url

_SPELLED = re.compile(r"mcp:\s*(.*)|mcp\+(https?://.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server. Either `command` (its words, no shell) or `url` is set."""

    command: tuple[str, ...] = ()
    url: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the command, beside PATH, HOME, LANG and TMPDIR, which are all that it gets of ours."""
    credential: str = ""
    """Name of the credential that requests to `url` carry; empty for none."""
    trusted: bool = False
    """Whether the server is believed when it says that a tool only reads."""

    @property
    def shown(self) -> str:
        """The command as one would type it, or the address."""
        return shlex.join(self.command) or self.url


def is_mcp(text: str) -> bool:
    """Whether a source is an MCP server: `mcp:COMMAND ARGS`, `mcp:https://…`, `mcp+https://…`, `mcp:NAME`."""
    return _SPELLED.fullmatch(text) is not None


def read_spelling(text: str, known: Mapping[str, McpServer]) -> tuple[str, McpServer]:
    """The name (empty where nobody gave one) and the server that a source means; `known` are those of the settings.

    Raises:
        SourceUnavailable: nothing follows `mcp:`, a quote is open, or the address is none.
    """
    match = _SPELLED.fullmatch(text)
    rest = (match[1] or match[2] or "").strip() if match else text
    if rest in known:
        return rest, known[rest]
    if is_url(rest):
        return "", McpServer(url=checked_url(rest))
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise SourceUnavailable(f"{text!r} is no command: {error}; close the quote.") from None
    if not words:
        raise SourceUnavailable(
            f"{text!r} names no MCP server; write 'mcp:COMMAND ARGS', 'mcp:https://HOST/mcp' or 'mcp:NAME' "
            "with NAME from your settings."
        )
    return "", McpServer(command=tuple(words))


def checked_url(url: str) -> str:
    """`url` if it is an http(s) address with a plain host.

    Raises:
        SourceUnavailable: it is not.
    """
    try:
        split_url(url)
    except ValueError as error:
        raise SourceUnavailable(f"{error}; give the address of the MCP server, such as https://HOST/mcp.") from None
    return url
