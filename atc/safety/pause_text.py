"""Parts of the message about a call that was not sent because a person must allow it first."""

from __future__ import annotations

from atc.core.quoting import quote_name, safe_shell_argument
from atc.safety.questions import Question
from protocols.protocol import McpBinding
from protocols.toolbox import Toolbox

_MOST_NAMED = 3
"""Maximum number of tainted values that a message describes one by one."""


def describe_problems(question: Question, *, unallowed: bool) -> list[str]:
    """Return a clause for each reason to ask a person about a call.

    `unallowed` is True if the call writes and no option allows its tool.
    """
    tool = quote_name(question.tool.alias)
    tainted = question.tainted
    problems = [f"{tool} may change something and was not allowed"] if unallowed else []
    problems += [f"{tool}: {one}" for one in tainted[:_MOST_NAMED]]
    if len(tainted) > _MOST_NAMED:
        problems.append(f"{len(tainted) - _MOST_NAMED:,} more of its values are like that")
    return problems


def hint_further(question: Question, tools: Toolbox, *, unallowed: bool) -> str:
    """Return further ways to allow the call, besides the options in the message."""
    return _hint_open_argument(question, tools) + _hint(question, unallowed=unallowed)


def _hint_open_argument(question: Question, tools: Toolbox) -> str:
    """Return a hint on the option that allows any value for the arguments with a command, or "".

    An option that trusts one text would be of no use, because each task has another command.
    """
    commands = {one.argument for one in question.tainted if one.kind == "command"}
    name = tools.shortest_name(question.tool)
    rules = [safe_shell_argument(f"{name}.{argument}") for argument in sorted(commands)]
    known = " ".join(f"--trust {rule}" for rule in rules if rule is not None)
    return f" (with {known} instead, any text may stand in this argument)" if known else ""


def _hint(question: Question, *, unallowed: bool) -> str:
    """Return a hint on options that trust only one value, or the MCP server of the tool, or ""."""
    tool = quote_name(question.tool.alias)
    binding = question.tool.protocol.binding
    only = [one.rules[0] for one in question.tainted if len(one.rules) > 1]
    hint = ""
    if len(only) == 1:
        hint = f" (every value of that field; for this one alone: --trust {only[0]})"
    if not unallowed or not isinstance(binding, McpBinding):
        return hint
    server = quote_name(binding.server)
    if server == binding.server:
        hint += f". If the MCP server {server!r} says that {tool} only reads, believe it with"
        hint += f" --trust-annotations, or trusted = true under [mcp.{server}] in your settings"
    return hint
