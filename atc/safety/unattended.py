"""Check of the tools of a run in which no person is asked about calls (`consent="none"`)."""

from __future__ import annotations

import re
from typing import Literal, get_args

from atc.core.config import Config, InvalidConfig
from protocols.protocol import HttpBinding, McpBinding
from protocols.secrets.sources import mask_source
from protocols.settings import headers_of
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.urls import is_loopback, split_url

ConsentMode = Literal["ask", "none"]
"""`ask`: a person must allow what may matter. `none`: there is no person, and nothing asks."""
_ADDRESS = re.compile(r"\w[\w+.-]*://[^\s'\"]+")


def read_consent(given: object) -> ConsentMode:
    """Return the value of the argument `consent`.

    Raises:
        InvalidConfig: it is neither `ask` nor `none`.
    """
    for mode in get_args(ConsentMode):
        if given == mode:
            return mode  # type: ignore[no-any-return]  # get_args has no type
    raise InvalidConfig(f"consent must be 'ask' or 'none', got {given!r}.")


def require_closed_world(tools: Toolbox, config: Config) -> None:
    """Check that calls of these tools have no effects outside this machine, as far as is known.

    Python functions and MCP servers that run on this machine are accepted, although they may have
    such effects: they are the user's own, and atc cannot know what they do.

    Raises:
        InvalidConfig: a tool calls another machine, or is sent a credential.
    """
    if any(mask_source(source) != source for source in config.tools):
        raise _refusal("a source has a secret in its address")
    for tool in tools.values():
        if (problem := _find_problem(tool, config)) is not None:
            raise _refusal(f"the tool {tool.qualified!r} {problem}")


def _refusal(problem: str) -> InvalidConfig:
    return InvalidConfig(
        f"consent = none is for worlds on this machine where nothing matters, but {problem}. Leave"
        " it out, and allow what may be done without a question with allow_writes and trust."
    )


def _find_problem(tool: Tool, config: Config) -> str | None:
    """Return why calls of a tool may have effects elsewhere, as the end of a sentence, or None.

    The call itself is asked, too: a toolbox may have been loaded with other settings.
    """
    problem = _find_problem_of_binding(tool, config)
    if problem is None and tool.has_secrets:
        problem = "is sent a secret: a credential, a header, a sign-in, or a part of a command"
    return problem


def _find_problem_of_binding(tool: Tool, config: Config) -> str | None:
    """Return why the binding of a tool says that calls may have effects elsewhere, or None."""
    match tool.protocol.binding:
        case HttpBinding() as binding:
            if binding.credential_names:
                return f"is sent a credential ({binding.credential_names[0]!r})"
            return _find_problem_of_address(binding.url, config)
        case McpBinding() as binding:
            server = config.mcp.get(binding.server)
            if server is not None and server.env:
                return "belongs to an MCP server that gets variables of its own, such as a secret"
            found = (_find_problem_of_address(url, config) for url in _ADDRESS.findall(tool.place))
            return next(filter(None, found), None)
        case _:
            return None


def _find_problem_of_address(url: str, config: Config) -> str | None:
    """Return why calls to an address may have effects elsewhere, or None."""
    try:
        origin = split_url(url)[0]
    except ValueError:
        return "has an address that cannot be read"
    if not is_loopback(origin.host):
        return f"reaches {origin.host!r}, which is not this machine"
    if not config.lend_credentials:
        return None
    if any(known.may_go_to(origin) for known in config.credentials.values()):
        return f"may be sent a credential, since your settings have one for {origin.netloc!r}"
    if headers_of(config.headers, origin):
        return f"is sent the headers that your settings have for {origin.netloc!r}"
    return None
