"""`atc tools login`: sign in to the APIs of a source, and say how long that holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from atc.cli import options, output, wiring
from atc.cli.errors import ExitCode
from atc.settings.reading import load_config
from protocols.errors import CredentialMissing, ToolError
from protocols.http.call import HttpCall
from protocols.http.oauth import SignIn
from protocols.protocol import McpBinding
from protocols.tool import Tool
from protocols.toolbox import Toolbox

_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@click.command(
    "login",
    cls=options.Verb,
    examples=["atc tools login https://shop.example.org/openapi.json"],
)
@click.argument("source", required=False)
@options.servers_options
def login(source: str | None, **flags: Any) -> None:
    """Sign in to the APIs of SOURCE, and say how long that holds.

    Each credential that the tools of SOURCE send is tested. A token is fetched anew, and kept for
    later commands. A key or a password that is sent with each call is tested with a tool that only
    reads and needs no arguments, if there is one. An MCP server must list its tools. If a sign-in
    fails, the token of before is kept.

    Where a document declares a login for most tools and nothing for others, you are asked on a
    terminal if the others get it, too. The answer is kept for this host and this login.

    Without SOURCE, the sources of the settings are used. The exit status is 3 if a credential is
    missing or refused.
    """
    config = load_config({"tools": (source,) if source else (), **flags})
    with wiring.open_toolbox(config, saved=False) as toolbox:
        _ask_about_siblings(toolbox)
        results = [_try_login(tools) for tools in _group_by_credentials(toolbox)]
        results += _list_mcp_logins(toolbox)
    rows = [(row["credential"], row["state"], row["detail"]) for row in results]
    output.print_result(results, rows)
    if not results:
        output.say("None of these tools sends a credential, so there is nothing to sign in to.")
    if any(row["state"] == "failed" for row in results):
        sys.exit(ExitCode.ENVIRONMENT)


def _ask_about_siblings(toolbox: Toolbox) -> None:
    """Ask the person whether tools that declare no login get that of the others.

    Without a terminal nobody is asked, and nothing changes.
    """
    asked: set[str] = set()
    for tool in toolbox.values():
        if not isinstance(tool.call, HttpCall):
            continue
        question = tool.call.login.sibling_question()
        if question and question not in asked:
            asked.add(question)
            if output.has_person() and output.confirmed(question):
                tool.call.login.agree()


def _group_by_credentials(toolbox: Toolbox) -> Iterator[list[Tool]]:
    """Yield the HTTP tools, grouped by the host and the credentials that they send or need."""
    groups: dict[object, list[Tool]] = {}
    for tool in toolbox.values():
        if isinstance(tool.call, HttpCall) and (key := tool.call.login.key):
            groups.setdefault(key, []).append(tool)
    yield from groups.values()


def _list_mcp_logins(toolbox: Toolbox) -> Iterator[dict[str, Any]]:
    """Yield the report of each MCP server that gets a secret, once its tools are loaded."""
    servers = {
        tool.protocol.binding.server: tool.place
        for tool in toolbox.values()
        if isinstance(tool.protocol.binding, McpBinding) and tool.has_secrets
    }
    for name, place in servers.items():
        detail = f"the server ({place}) listed its tools with this login"
        yield {"credential": f"mcp:{name}", "state": "ok", "seconds": None, "detail": detail}


def _try_login(tools: list[Tool]) -> dict[str, Any]:
    """Sign in with the credentials of tools that all send the same, and return the report."""
    call = tools[0].call
    assert isinstance(call, HttpCall)
    names = ", ".join(call.credentials or call.login.needed)
    report = {"credential": names, "state": "failed", "seconds": None}
    try:
        done = call.login.sign_in()
    except CredentialMissing as error:
        return {**report, "detail": error.body}
    tokens = [one for one in done if one.token]
    if tokens:
        known = [one.seconds for one in tokens if one.seconds is not None]
        seconds = min(known, default=None)
        detail = f"the token holds {_describe(seconds)}{_places(tokens)}"
        return {**report, "state": "ok", "seconds": seconds, "detail": detail}
    return {**report, **_try_key(tools, _places(done))}


def _try_key(tools: list[Tool], places: str) -> dict[str, str]:
    """Call a tool that only reads, to test the keys that it sends; return the state and details."""
    tests = [tool for tool in tools if not tool.protocol.writes and not tool.protocol.required]
    if not tests:
        advice = "no tool without arguments only reads, so call one to test it"
        return {"state": "set", "detail": f"nothing to sign in to{places}; {advice}"}
    test = min(tests, key=lambda tool: len(tool.protocol.parameters))
    try:
        test.send({})
    except ToolError as error:
        if error.status in (401, 403):
            return {"state": "failed", "detail": error.remedy or str(error)}
        return {"state": "set", "detail": f"nothing to sign in to{places}; {test.alias}: {error}"}
    return {"state": "ok", "detail": f"{test.alias} accepts it{places}; nothing to sign in to"}


def _places(done: list[SignIn]) -> str:
    """Return where the secrets were read, in brackets, or ""."""
    places = dict.fromkeys(one.place for one in done if one.place)
    return f" ({', '.join(places)})" if places else ""


def _describe(seconds: float | None) -> str:
    """Return how long a token holds, in words."""
    if seconds is None:
        return "until the service refuses it"
    length, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    number = round(seconds / length)
    return f"for {number} {unit}{'' if number == 1 else 's'}"
