"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


class StrategyType(click.ParamType[str]):
    """A strategy and its flags, `anytool:solver=cot`, or one of `others`, words that a verb has beside them."""

    name = "NAME[:FLAG=VALUE,…]"

    def __init__(self, *others: str) -> None:
        self.others = others

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The spec as it stands, if there is such a strategy."""
        from atc.strategies import UnknownStrategy, read

        if value not in self.others:
            try:
                read(value)
            except UnknownStrategy as error:
                self.fail(str(error), param, ctx)
        return value


def strategy_option(verb: _Verb) -> _Verb:
    """`--strategy NAME`, one of them."""
    from atc.strategies import STRATEGIES

    told = f"How the task is solved: {', '.join(STRATEGIES)} (auto)."
    return click.option("--strategy", type=StrategyType(), help=told)(verb)


def tools_option(verb: _Verb) -> _Verb:
    """`--tools SRC`, repeatable."""
    return click.option(
        "--tools",
        multiple=True,
        metavar="SRC",
        help="OpenAPI file or URL, protocol folder, Python module, HAR recording, MCP server ('mcp:COMMAND', "
        "'mcp:URL'); repeatable. Default: the configured ones, else the built-in flights service.",
    )(verb)


def servers_options(verb: _Verb) -> _Verb:
    """`--start-servers` and `--trust-annotations`, for MCP servers among the tools."""
    start = click.option(
        "--start-servers", is_flag=True, default=None, help="Start the commands of MCP servers without asking."
    )
    trust = click.option(
        "--trust-annotations", is_flag=True, default=None, help="Believe MCP servers which of their tools only read."
    )
    return start(trust(verb))


def model_option(verb: _Verb) -> _Verb:
    """`--model NAME`."""
    return click.option("--model", metavar="NAME", help="'local', a model of the endpoint, or a .gguf file.")(verb)


def endpoint_options(verb: _Verb) -> _Verb:
    """`--model-timeout` and `--model-retries`."""
    timeout = click.option(
        "--model-timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="S",
        help="Time that an endpoint has for a reply (120).",
    )
    retries = click.option(
        "--model-retries", type=click.IntRange(0), metavar="N", help="Times that a failed request is repeated (4)."
    )
    return timeout(retries(verb))


def json_option(verb: _Verb) -> _Verb:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(verb)


def trust_option(verb: _Verb) -> _Verb:
    """`--trust RULE`, repeatable."""
    return click.option(
        "--trust",
        multiple=True,
        metavar="RULE",
        help="Where sensitive arguments may come from: TOOL, TOOL:PATH (contacts[].email) or value=TEXT. Repeatable.",
    )(verb)


def learn_option(verb: _Verb) -> _Verb:
    """`--learn/--no-learn`."""
    told = "Learn response schemas from calls of tools that declare none (on)."
    return click.option("--learn/--no-learn", default=None, help=told)(verb)


def decoding_options(verb: _Verb) -> _Verb:
    """`--decoding` and `--docs`."""
    decoding = click.option(
        "--decoding",
        type=click.Choice(["off", "calls", "auto"]),
        help="What the model is held to as it writes single calls: nothing, or the tools (auto: where it can be).",
    )
    docs = click.option(
        "--docs",
        type=click.Choice(["full", "requests", "names"]),
        help="What the prompt tells of tools: stubs, stubs without what responses hold, or names alone.",
    )
    return decoding(docs(verb))


def on_unknown_option(verb: _Verb) -> _Verb:
    """`--on-unknown`."""
    return click.option(
        "--on-unknown",
        type=click.Choice(["stop", "retry-idempotent", "skip"]),
        help="A write of which nothing tells whether it took effect: pause (default), send it again where repeating "
        "changes nothing more, or go on without it.",
    )(verb)
