"""MCP servers in a user's settings: `[mcp.files]` with a command or a url."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class McpEntry:
    """An MCP server that the user has named. Its command is started without asking."""

    command: tuple[str, ...] = ()
    """Its words. Either this or `url` is set."""
    url: str = ""
    """Of a server that speaks streamable HTTP."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the command: `env:NAME`, `file:PATH` or the text itself. It gets no others of ours but PATH, HOME,
    LANG and TMPDIR."""
    credential: str = ""
    """The credential that requests to `url` carry."""
    trusted: bool = False
    """Whether it is believed when it says that a tool only reads."""

    @property
    def shown(self) -> dict[str, Any]:
        """The entry as plain JSON, with no secret in it."""
        env = {name: value if value.startswith(("env:", "file:")) else "***" for name, value in self.env.items()}
        told = {"command": list(self.command), "url": self.url, "env": env, "credential": self.credential}
        return told | {"trusted": self.trusted}


def read_entry(raw: Any) -> McpEntry:
    """One table of the settings.

    Raises:
        TypeError, ValueError: what is wrong with it, to be said after its name. No value is quoted: it may be a secret.
    """
    if not isinstance(raw, Mapping):
        raise TypeError(f" must be a table with command or url, got a {type(raw).__name__}.")
    known = [entry.name for entry in fields(McpEntry)]
    if unknown := [key for key in raw if key not in known]:
        raise ValueError(f".{unknown[0]} is no setting; known are {', '.join(known)}.")
    command, url, env = raw.get("command", ()), raw.get("url", ""), raw.get("env", {})
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)
    except (TypeError, ValueError):
        words = (None,)
    if not all(isinstance(word, str) and word for word in words):
        raise ValueError(".command must be a list of words, or one line as a shell takes it.")
    if not isinstance(url, str) or bool(words) == bool(url):
        raise ValueError(" must have either a command or a url.")
    if not isinstance(env, Mapping) or not all(isinstance(part, str) and part for pair in env.items() for part in pair):
        raise ValueError(".env must be a table of texts, such as { TOKEN = 'env:MY_TOKEN' }.")
    credential, trusted = raw.get("credential", ""), raw.get("trusted", False)
    if not isinstance(credential, str) or not isinstance(trusted, bool):
        raise TypeError(".credential must be the name of a credential, and .trusted true or false.")
    return McpEntry(command=words, url=url, env=dict(env), credential=credential, trusted=trusted)
