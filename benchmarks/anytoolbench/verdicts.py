"""Acceptance of queries: by rules, by making the calls of the solution again, and by a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from atc.core.prompts import fill_from
from atc.pipeline.retrieve.model_replies import a_text, an_object, json_object, one_text
from atc.pipeline.retrieve.search_agents import Mistake
from benchmarks.anytoolbench.pool import ApiPool, CallFailed
from protocols.model import Ask, Message
from protocols.schema import Json, JsonObject
from protocols.truncate import abridge_value, clip_text

KINDS = ("missing information", "fake parameters", "names an API", "unreasonable")
"""The four reasons for which the filter rejects a query (§A.7 of the AnyTool paper)."""
WORDS = 30
"""Minimum number of words in a query (§B.4 of the AnyTool paper)."""
LEAST_CATEGORIES = 2
MOST_CATEGORIES = 5
"""Fewest and most categories of the APIs in a solution (§B.4 of the AnyTool paper)."""
CALLS = 10
"""Maximum number of calls in a solution, the same as for AnyTool's solver (§A.1 of the paper)."""
LINE = 300
"""Maximum number of characters of a call or a reason that is shown on one line."""
LETTERS_PER_TOKEN = 3
_VERDICT_TOKENS = 300
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
fill = partial(fill_from, "benchmarks.anytoolbench.prompts")

Planned = Sequence[tuple[str, JsonObject]]
"""The calls of a solution: pairs of an API's name and the arguments."""


class QueryRefused(Mistake):
    """A query was rejected.

    `kind` is the reason in a few words, such as "too short"; `detail` explains it to the model.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


def verify_solution(
    query: str, answer: str, planned: Planned, pool: ApiPool
) -> Iterator[dict[str, Any]]:
    """Make the calls of a solution again, in order, and yield each call with its response.

    Raises:
        QueryRefused: the query or its solution breaks a rule, or a call fails.
    """
    _require_length(query)
    _require_categories(planned, pool)
    known = query.casefold()
    is_supported = False
    for number, (api, arguments) in enumerate(planned, start=1):
        _require_known_values(api, arguments, known)
        try:
            response = pool[api].call(arguments)
        except CallFailed as failed:
            kind = "service failed" if failed.outage else "call failed"
            raise QueryRefused(kind, f"call {number} of the solution, {api!r}: {failed}") from None
        values = list(_leaves(response))
        is_supported |= not values or any(_is_in_text(value, answer) for value in values)
        known += "".join(f" {value}".casefold() for value in values)
        yield {"api": api, "arguments": arguments, "response": response}
    if not is_supported:
        raise QueryRefused("unsupported answer", "no value of any response stands in the answer")


def _require_length(query: str) -> None:
    """Reject a query with too few words."""
    words = sum(any(map(str.isalnum, word)) for word in query.split())
    if words < WORDS:
        raise QueryRefused(
            "too short", f"the query has {words} words, and must have at least {WORDS}"
        )


def _require_categories(planned: Planned, pool: ApiPool) -> None:
    """Reject a solution with too many calls, or with APIs of too few or too many categories."""
    categories = pool.categories(api for api, _ in planned)
    if not LEAST_CATEGORIES <= len(categories) <= MOST_CATEGORIES or len(planned) > CALLS:
        wanted = f"{LEAST_CATEGORIES} to {MOST_CATEGORIES} categories, {CALLS} calls at most"
        raise QueryRefused(
            "categories", f"{len(planned)} calls of {', '.join(categories)}; {wanted}, are wanted"
        )


def _require_known_values(api: str, arguments: JsonObject, known: str) -> None:
    """Reject a call of an API if one of its arguments has an invented value.

    This is a text of more than two characters, or a number above 100, that is not in the text
    `known`.
    """
    for name, value in arguments.items():
        is_long = isinstance(value, str) and len(value) > 2
        is_large = isinstance(value, int) and value > 100
        if (is_long or is_large) and str(value).casefold() not in known:
            detail = (
                f"{value!r} for {name!r} of {api!r} stands neither in the query nor in "
                "earlier responses"
            )
            raise QueryRefused("missing information", detail)


def _leaves(value: Json) -> Iterator[str | int | float]:
    """Yield the texts and numbers of a response, and the length of each list."""
    if isinstance(value, Mapping | list):
        if isinstance(value, list):
            yield len(value)
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield value


def _is_in_text(value: str | float, text: str) -> bool:
    """Return True if `text` contains the value.

    A number also matches if the text has it rounded, such as 3.14 for 3.14159.
    """
    if isinstance(value, str):
        return len(value.strip()) > 2 and value.strip().casefold() in text.casefold()
    written = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return any(
        round(abs(value), len(number.partition(".")[2])) == float(number) for number in written
    )


def judge_solution(query: str, answer: str, solution: Sequence[Mapping[str, Any]], ask: Ask) -> str:
    """Ask the model whether a solution resolves its query (§A.8 of the AnyTool paper).

    Return the reason that the model gives.

    Raises:
        QueryRefused: the model says that the solution does not resolve the query.
    """
    # The responses share half of a prompt.
    most = max(LINE, ask.prompt_tokens * LETTERS_PER_TOKEN // 2 // max(1, len(solution)))
    lines = []
    for number, call in enumerate(solution, start=1):
        given = clip_text(
            ", ".join(f"{name}={value!r}" for name, value in call["arguments"].items()), LINE
        )
        lines.append(
            f"{number}. {one_text(call['api'])}({given}) → "
            f"{abridge_value(call['response'], most=most)}"
        )
    case = fill("judge_task", query=query, calls="\n".join(lines), answer=answer)
    word, reason = _verdict(ask, fill("judge"), case, ("resolved", "unresolved"))
    if word != "resolved":
        raise QueryRefused(word or "unjudged", reason)
    return reason


def screen_query(query: str, ask: Ask) -> None:
    """Ask the model to check a query that passed the rules.

    This is the filter in §A.7 of the AnyTool paper.

    Raises:
        QueryRefused: the model rejects the query.
    """
    word, reason = _verdict(ask, fill("filter"), fill("filter_task", query=query), (*KINDS, "keep"))
    if word != "keep":
        raise QueryRefused(word or "ungraded", reason)


def _verdict(ask: Ask, instructions: str, case: str, words: Iterable[str]) -> tuple[str, str]:
    """Return the model's verdict and its reason.

    The verdict is one of `words`, or "" if the reply has none of them.
    """
    verdict = an_object(
        {"reason": a_text(LINE), "verdict": {"type": "string", "enum": list(words)}}
    )
    messages = [Message("system", instructions), Message("user", case)]
    found = json_object(ask(messages, schema=verdict, max_tokens=_VERDICT_TOKENS).text)
    word = one_text(found.get("verdict")).casefold()
    return next((one for one in words if one.casefold() == word), ""), one_text(found.get("reason"))
