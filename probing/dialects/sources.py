"""Tools that a reply points to: `search_airports finds codes`, `acquire the lock first (POST /locks)`."""

from __future__ import annotations

import re

from probing.dialects.clauses import COMMON
from probing.dialects.naming import Names, words
from probing.hint import Hint

_PATH = r"/[A-Za-z_][\w/{}.\-:]{0,120}"
_TOOL = (
    r"(?:(?P<route>(?:GET|POST|PUT|PATCH|DELETE)\s+(?:to\s+)?(?:https?://[\w.:\-]{1,80})?"
    + _PATH
    + r")|(?P<path>(?<![\w.])"
    + _PATH
    + ")"
    r"|['\"`](?P<quoted>[A-Za-z_][\w.\-]{1,80})(?:\(\))?['\"`]"
    r"|(?P<name>[A-Za-z][^\W_]{0,60}(?:[_.\-]{1,3}[^\W_]{1,60}){1,16}|[A-Za-z][a-z]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6})(?:\(\))?)"
)
_VERB = (
    r"(?:obtain|get|got|request|create|acquire|fetch|generate|take|receive|retrieve|look(?:ed)? up|find|found|list"
    r"|search|open|start|issue|return|produce|provide|give|yield|log ?in|authenticate|lock|reserve|begin)\w*"
)


def _of(words: str) -> re.Pattern[str]:
    return re.compile(words.replace("TOOL", _TOOL))


_SOURCES = (
    _of(rf"\b(?i:{_VERB})\b[^.;()]{{0,60}}?\b(?i:from|by calling|by|with|via|using|through"
    rf"|at)\s+(?i:the\s+)?(?i:(?:tool|endpoint|operation|method)\s+)?TOOL"),
    _of(r"\b(?i:call|calling|run|invoke|use|using|try|see|query|via|through|with|hit|visit"
    r"|perform)\s+(?i:the\s+)?TOOL(?i:\s+(?:tool|endpoint|operation|first|to|for|before|instead|method|and)\b"
    r"|\s*[.!,)]?\s*$)"),
    _of(r"(?:^|[\s(])TOOL(?i:\s+(?:tool |endpoint |operation )?(?:finds|lists|returns|gives|provides|yields"
    r"|creates|issues|shows|searches|has|tells|generates|produces|must be called|should be called"
    r"|needs to be called|first)\b)"),
    _of(r"(?i:\b(?:first|locked|lock|token|session|before|prior|required|needed|login|log in|handle|cursor|key|id"
    r"|ids|codes?)\b)[^.;()]{0,60}\((?i:see |via |call |use |from |by |with )?TOOL[^()]{0,40}\)"),
    _of(r"\b(?i:first|required|needed)\s*[:\-–]\s*TOOL"),
    _of(r"\b(?i:must|should|need to|have to)\s+(?i:first\s+)TOOL"),
    _of(r"\b(?i:call to|calling|requires? a call to|comes? from|returned from|taken from|issued by|returned by"
    r"|given by|provided by|created by|created with|obtained (?:from|by|with|via)|listed by"
    r"|as in)\s+(?i:the\s+)?TOOL"),
)  # fmt: skip
_PLAIN_VERB = re.compile(
    r"\b(?:call|invoke|run|use)\s+(?:the\s+)?([a-z]{3,30})(?:\(\))?\s+(?:first|tool|endpoint|operation"
    r"|to (?:get|obtain|find|create|list|look|open|acquire|start))\b"
)
_ACTIONS = frozenset({
    "acquire", "add", "auth", "authenticate", "begin", "book", "browse", "checkout", "create", "describe",
    "explore", "fetch", "find", "generate", "get", "init", "issue", "list", "load", "lock", "login", "lookup",
    "make", "new", "obtain", "open", "post", "query", "read", "register", "request", "reserve", "resolve",
    "retrieve", "search", "show", "signin", "start", "suggest", "token",
})  # fmt: skip
_PRONOUNS = frozenset({
    "another", "api", "correct", "following", "it", "its", "one", "other", "our", "same", "search-engine", "that",
    "them", "these", "this", "those", "valid", "your",
})  # fmt: skip
_DOCUMENTS = re.compile(
    r"/(?:docs?|documentation|help|errors?|support|swagger|openapi|schemas?)\b|\.(?:html?|md|json|yaml)$", re.IGNORECASE
)


def read_source(clause: str, names: Names, subject: str | None, *, tool: str) -> Hint | None:
    """The tool that a clause names as where to get a value; `tool` is the one that was called."""
    if len(clause) > 600:
        return None
    for pattern in _SOURCES:
        for match in pattern.finditer(clause):
            kind = match.lastgroup or next(key for key, found in match.groupdict().items() if found)
            spelled = match[kind]
            if _is_tool(spelled, names, tool) and (kind in ("route", "path") or _acts(spelled, match[0])):
                return Hint(
                    kind="source",
                    argument=subject or _meant(clause.replace(spelled, " "), names),
                    tool=" ".join(spelled.replace(" to ", " ").split()),
                )
    if (plain := _PLAIN_VERB.search(clause)) and plain[1] not in _PRONOUNS and _is_tool(plain[1], names, tool):
        return Hint(kind="source", argument=subject or _meant(clause, names), tool=plain[1])
    return None


def _acts(spelled: str, said: str) -> bool:
    """Whether a name is that of an action, not that of a field."""
    return (
        bool(set(words(spelled)) & _ACTIONS)
        or re.search(r"\b(?:tool|endpoint|operation|first)\b|\(\)", said) is not None
    )


def _is_tool(spelled: str, names: Names, called: str) -> bool:
    return not (names.known(spelled) or spelled == called or _DOCUMENTS.search(spelled))


def _meant(clause: str, names: Names) -> str | None:
    """The one argument that a noun of the clause stands for: *a token* of `session_token`."""
    found = {
        a
        for word in re.findall(r"[A-Za-z_][\w\-]{2,40}", clause[:300])
        if word.lower() not in COMMON and (a := names.about(word) or names.about(word.removesuffix("s")))
    }
    return next(iter(found)) if len(found) == 1 else None
