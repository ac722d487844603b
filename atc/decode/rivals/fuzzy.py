"""Suffix matching of names that do not exist (ToolDec's Table 3, "ToolLLM + Fuzzy Matching").

The paper names it without a definition. The README of its code says which line of the runner it is, `function["name"]
.endswith(action_name)`: the first function in the order of the prompt whose name ends with what the model wrote.
Names there end with the service's name, so what models leave out is a beginning. Arguments are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from atc.decode.calls import Sampling, Written, write_call
from atc.decode.formats import JSON_CALL, CallFormat
from atc.decode.read import ReadCall, read_call
from protocols.ask import Ask, Message
from protocols.toolbox import Toolbox

Rule = Literal["published", "longest"]
"""*published*: as above. *longest*: the tool whose name shares the longest ending with what was written, the first of
several; ours, to compare with more than the published rule, which finds nothing for most wrong names."""


def match_suffix(name: str, names: Iterable[str], rule: Rule = "published") -> str | None:
    """The name that `name` is taken for, itself where it exists; None where none matches, and for an empty one.

    The published line also takes `name` for an earlier tool that ends with it although it exists, and an empty one for
    the first tool. Both are left out here: a call that was right stays right.
    """
    known = list(names)
    if name in known:
        return name
    if not name:
        return None
    if rule == "published":
        return next((one for one in known if one.endswith(name)), None)
    best = max(known, key=lambda one: _shared(one, name), default=None)
    return best if best is not None and _shared(best, name) else None


def fuzzy_call(text: str, tools: Toolbox, form: CallFormat, *, rule: Rule = "published") -> ReadCall:
    """The first call of a reply, with the name of a tool that exists in place of one that does not, where one matches.

    `name` stays what the model wrote, and spans are places in the given text.
    """
    call = read_call(text, tools, form)
    if call.error is None or call.error.kind != "unknown-tool" or call.name_span == (0, 0):
        return call
    meant = match_suffix(call.name, tools, rule)
    if meant is None:
        return call
    start, end = call.name_span
    again = read_call(text[:start] + meant + text[end:], tools, form)
    return replace(again, name=call.name, span=call.span, name_span=call.name_span)


def write_fuzzy(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat = JSON_CALL,
    sampling: Sampling | None = None,
    rule: Rule = "published",
) -> Written:
    """One free reply, its call's name matched by suffix. It costs one request. Raises as `write_call` does."""
    free = write_call(ask, messages, tools, form=form, decoding="off", sampling=sampling)
    return replace(free, how="fuzzy", call=fuzzy_call(free.text, tools, form, rule=rule))


def _shared(one: str, other: str) -> int:
    """Length of the ending that two names have in common."""
    return next(
        (i for i, (a, b) in enumerate(zip(reversed(one), reversed(other), strict=False)) if a != b),
        min(len(one), len(other)),
    )
