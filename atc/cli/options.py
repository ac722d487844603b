"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def tools_option(verb: _Verb) -> _Verb:
    """`--tools SRC`, repeatable."""
    return click.option(
        "--tools",
        multiple=True,
        metavar="SRC",
        help="OpenAPI file or URL, protocol folder, Python module; repeatable. Default: the configured ones, else the "
        "built-in flights service.",
    )(verb)


def model_option(verb: _Verb) -> _Verb:
    """`--model NAME`."""
    return click.option("--model", metavar="NAME", help="'local', a model of the endpoint, or a .gguf file.")(verb)


def json_option(verb: _Verb) -> _Verb:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(verb)
