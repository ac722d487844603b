"""Choice of the tools that a prompt shows in full.

The descriptions of 40 tools take most of a prompt, and a run needs few of them. So the prompts
after the first program show in full only the tools that matter for the programs so far.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from protocols.naming import singular, snake
from protocols.tool import Tool
from protocols.toolbox import Toolbox

NEAREST = 10
"""Number of tools nearest to the task that every prompt shows in full."""
_LEAST_LEFT_OUT = 5
"""If fewer tools would be left out, all are shown in full."""


class ShownTools(NamedTuple):
    """The tools that a prompt shows: in full, and by their name and required arguments only.

    The latter are in `by_name`, each as a call: `get_city(city_id: str)`. If `nearest` is a number,
    the tools after the first `nearest` ones are shown without optional arguments.
    """

    full: Toolbox
    by_name: tuple[str, ...] = ()
    nearest: int | None = None


def select_full(tools: Toolbox, nearest: Iterable[str], sources: Iterable[str]) -> Toolbox:
    """Return the tools that a prompt shows in full, in the order of `tools`.

    They are the tools in `nearest`, those that a program in `sources` names, and one producer for
    each required argument of the latter: the tool that is the best source of the argument's value.
    If these are nearly all tools, all are returned.
    """
    named = _find_named(tools, sources)
    producers = {
        found[0].tool.alias
        for alias in named
        for argument in tools[alias].required
        if (found := tools.producers(tools[alias], tools[alias].arguments[argument]))
    }
    wanted = {*nearest, *named, *producers}
    if len(tools) - len(wanted & tools.keys()) < _LEAST_LEFT_OUT:
        return tools
    return tools.only([alias for alias in tools if alias in wanted])


def _find_named(tools: Collection[str], sources: Iterable[str]) -> set[str]:
    """Return the tools whose name occurs in one of the source texts as a word."""
    return {
        word for source in sources for word in re.findall(r"[^\W\d]\w*", source) if word in tools
    }


def rank_by_words(task: str, tools: Toolbox) -> list[str]:
    """Return the tools in the order of the words that they share with the task, most first.

    A word that few tools have counts more. Tools with equal scores keep their order.
    """
    words = {alias: _words(tool) for alias, tool in tools.items()}
    frequency = Counter(word for found in words.values() for word in found)
    wanted = _split(task)

    def score(alias: str) -> float:
        return sum(math.log(1 + len(tools) / frequency[word]) for word in words[alias] & wanted)

    return sorted(tools, key=lambda alias: -score(alias))


def _words(tool: Tool) -> set[str]:
    """Return the words of a tool's name, title and description."""
    protocol = tool.protocol
    return _split(f"{snake(tool.alias)} {protocol.title} {protocol.description}")


def _split(text: str) -> set[str]:
    return {singular(word) for word in re.findall(r"[^\W_]{3,}", text.lower())}
