"""Arguments of a GET: which of them filter and select, and which may change or pay something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_plus

from protocols.effects.addresses import VARIABLE, classify_path_part, parts_of
from protocols.effects.verbs import (
    ACTING,
    CAN_BE_VERB,
    GRAMMAR,
    READS,
    STRICT,
    VERBS,
    known_values,
    name_words,
)
from protocols.effects.word_forms import base_form
from protocols.naming import ID_WORDS, singular, snake
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, resolve, types

_SWITCHES = frozenset(["close", "closed", "off", "on", "open", "start", "stop", "toggle"])
_OF_A_VIEW = (
    READS["paging"] | ID_WORDS | {"fields", "format", "pretty", "select", "expand", "indent"}
)
"""Names of arguments that select the content or the format of a response, in any API."""
_FLAGS_OF_VIEWS = READS["views"]
"""First words of flags that select the content of a response: `include_archived`."""
_CHANGES = VERBS["update"] | VERBS["remove"] | (VERBS["create"] & STRICT)
_KEEPS = frozenset(
    {"apply", "clear", "exclude", "order", "rate", "remove", "return", "start", "submit", "tag"}
)
"""Verbs that are no evidence of a change, since reads have arguments such as `filters to apply`."""
_TO_SET = re.compile(r"\bto (?:be )?(\w+)(?= to\b|[^\w\s]|\s*$)")
"""Matches `Brightness to set` and `the level to be set, in percent`."""
_DONE = re.compile(
    r"\b(?:is|are|be|gets?) (?:then |also |automatically )?(\w+ed|set|sent|read|paid|put)\b"
)
_NEW = re.compile(r"^(?:the |a |your )?(?:new|desired|target|wanted) (\w+)", re.IGNORECASE)
_MONEY = re.compile(
    r"\b(?:amount|sum) (?:of money|to (?:be )?"
    r"(?:pay|paid|send|sent|transfer|withdraw|deposit|charge|refund)\w*)"
    r"|\b(?:recipient|beneficiary|payee)\b",
    re.IGNORECASE,
)

_SELECTING = re.compile(
    r"\$?(?:opt_?|resource_?|response_?|return_?|_)?"
    r"(?:fields?(?:et|ets)?|expand|expansions?|includes?|embed|populate|select|parts?|projection"
    r"|properties|attributes|columns|view)"
    r"(?:_?(?:fields?|on|mask|relations|related))?_?",
    re.IGNORECASE,
)
"""Names of arguments that select what a response contains, so that it need not fit its schema."""

_SHAPING = frozenset(
    ["append", "embed", "expand", "fields", "include", "includes", "populate", "select", "with"]
)
"""First words of arguments that add something to a response, as in `append_to_response`."""


class QueryArgument(NamedTuple):
    """An argument of a GET, and what its name, values and description say about its use.

    `name` is its name in the request, `values` are its known values, and `in_path` is True for a
    variable of the URL path. `is_view_filter` is True if the argument only selects what is
    returned, `may_set` if its value may be stored or run, and `may_be_payment` if it may be an
    amount or a recipient of money. `action_verb` is a verb which shows that the argument makes the
    call act, or "".
    """

    name: str
    values: frozenset[str]
    in_path: bool
    is_view_filter: bool
    may_set: bool
    action_verb: str
    may_be_payment: bool


def query_arguments_of(protocol: ToolProtocol, http: HttpBinding) -> list[QueryArgument]:
    """Return the arguments of a GET, including the variables in its URL."""
    parts = parts_of(http.url)
    in_path = {name for part in parts for name in VARIABLE.findall(part)}
    given = list(_iter_raw_arguments(protocol, http))
    names = {snake(name) for name, _, _ in given}
    found = []
    for name, schema, values in given:
        text = str(schema.get("description") or "") if isinstance(schema, dict) else ""
        flag = isinstance(schema, dict) and "boolean" in types(schema)
        found.append(
            QueryArgument(
                name=name,
                values=values,
                in_path=name in in_path,
                is_view_filter=is_filter_name(name)
                and not _is_code(name, parts)
                and not _names_what_is_set(name, parts),
                may_set=may_be_set(name),
                action_verb=_find_acting_verb(name, text, values, flag=flag)
                if name not in in_path
                else "",
                may_be_payment=_may_be_payment(name, text, names),
            )
        )
    return found


def is_filter_name(name: str) -> bool:
    """Return True if an argument of this name filters, pages or selects."""
    key = snake(name)
    words = key.split("_")
    if key in READS["filters"] or key in ID_WORDS:
        return True
    return (
        words[0] not in STRICT
        and len(words) > 1
        and (words[-1] in READS["filters"] | ID_WORDS or words[0] in ("min", "max"))
    )


def selects_response(argument: str) -> bool:
    """Return True if an argument of this name selects what a response contains.

    Examples are `fields`, `expand` and `$select`.
    """
    return _SELECTING.fullmatch(argument) is not None


def shapes_response(argument: str) -> bool:
    """Return True if an argument of this name may add something to a response, or select it.

    Besides the names of `selects_response`, these are those that begin with a word such as `with`.
    """
    return selects_response(argument) or snake(argument).split("_")[0] in _SHAPING


def pages_response(argument: str) -> bool:
    """Return True if an argument of this name selects a page of a list, or the size of a page."""
    return snake(argument) in READS["paging"]


def _iter_raw_arguments(
    protocol: ToolProtocol, http: HttpBinding
) -> Iterator[tuple[str, Json, frozenset[str]]]:
    """Yield (name, schema, known values) for each argument of a GET.

    The name is the one in the request. The values are in lower case.
    """
    for name, schema in protocol.parameters.items():
        whole: Json = resolve(schema, protocol.input_schema) if isinstance(schema, dict) else schema
        yield http.wire_name(name), whole, frozenset(value.lower() for value in known_values(whole))
    for pair in filter(None, http.url.partition("?")[2].split("&")):
        name, _, value = pair.partition("=")
        yield unquote_plus(name), {}, frozenset({unquote_plus(value).lower()})


def may_be_set(name: str, *, in_list: bool = False) -> bool:
    """Return True if an argument can be a value that a call sets, or code that it runs.

    Examples: `brightness`, `script`, `turn`. If the call returns a list (`in_list`), an argument
    whose name is a noun as well as a verb (`project`, `branch`) is assumed to select items.
    """
    words = name_words(name)
    if not words or not name.isascii():
        return True
    free = READS["code"] & {*words}
    return bool(
        free
        or words[-1] in READS["settable"]
        or words[0] in (STRICT if in_list else CAN_BE_VERB) | GRAMMAR["last_particles"]
    )


def _is_code(name: str, parts: list[str]) -> bool:
    """Return True if an argument may be code that a call evaluates: `/evaluate?code=`."""
    return snake(name) in READS["code"] and any(
        READS["computing"] & {*name_words(part)[:1]} for part in parts
    )


def _names_what_is_set(name: str, parts: list[str]) -> bool:
    """Return True if an argument is probably a new value for the thing that the path names.

    The name of the argument is then the last noun of the path, or a property that can be set, such
    as `state` in `/lamp/status?state=`.
    """
    fixed = [part for part in parts if "{" not in part]
    words = name_words(fixed[-1]) if fixed else []
    key = snake(name)
    if not words or classify_path_part(fixed[-1]) in ("things", "reading"):
        return bool(words) and words[-1] in READS["preferences"] and key not in _OF_A_VIEW
    if words[-1] in READS["preferences"]:
        return key not in _OF_A_VIEW
    return key in READS["settable"] or key == singular(words[-1])


def _find_acting_verb(name: str, text: str, values: frozenset[str], *, flag: bool) -> str:
    """Return a verb which shows that an argument makes the call do more than read, or "".

    The verb is found in the known values, in the name (only for a boolean, `flag`), or in the
    description (`text`).
    """
    if _SWITCHES & values >= {"on", "off"}:
        return "switch"
    words = name_words(name)
    if flag and words:
        if words in (["on"], ["off"]) or words[-1] == "ack" or words[0] == "ack":
            return words[0]
        if words[0] not in _FLAGS_OF_VIEWS and not is_filter_name(name):
            verb = next((word for word in words if word in STRICT), "")
            if verb or (len(words) > 1 and words[0] in ACTING):
                return verb or words[0]
    return _find_setting_verb(text, flag=flag)


def _find_setting_verb(text: str, *, flag: bool) -> str:
    """Return a verb in an argument's description (`text`) which shows that the call is a write.

    The description `The new state of the lamp` implies the verb `set`. `flag` is True if the
    argument is a boolean. Return "" if there is no such verb.
    """
    plain = text[:300].lower()
    for found in _TO_SET.finditer(plain):
        if found[1] in _CHANGES - _KEEPS:
            return found[1]
    done = (found[1] for found in _DONE.finditer(plain))
    if flag and re.match(r"(?:if|when|whether|set|true|false)\b", plain):
        changed = VERBS["remove"] | {"acknowledge", "mark"}
        if verb := next((base for word in done if (base := base_form(word, changed))), ""):
            return verb
    new = _NEW.match(plain)
    return "set" if new and new[1] in READS["settable"] else ""


def _may_be_payment(name: str, text: str, names: set[str]) -> bool:
    """Return True if an argument may be an amount of money or its recipient.

    `names` are the names of all arguments of the call.
    """
    words = name_words(name)
    if not words or words[0] in ("min", "max"):
        return False
    if READS["money"] & {words[0], words[-1]} or _MONEY.search(text[:300]):
        return True
    return words == ["to"] and not names & {"from", "since", "start", "begin"} and "body" in names
