"""What a tool's method, name and description say of its effects: words, and so guesses."""

from __future__ import annotations

import re
from typing import Literal

from protocols.protocol import HttpBinding, ToolProtocol
from protocols.words import snake

Kind = Literal["read", "create", "update", "remove", "end"]
"""*read* looks something up; *create* adds a thing or sets something off; *update* changes a thing; *remove* takes one
away; *end* ends what later calls rest on: a session, a connection."""

_READ = frozenset({
    "browse", "calculate", "cat", "compare", "compute", "convert", "count", "describe", "diff", "display", "echo",
    "estimate", "exists", "explain", "explore", "fetch", "find", "geocode", "get", "grep", "has", "head", "inspect",
    "is", "list", "lookup", "ls", "peek", "ping", "preview", "pwd", "query", "read", "retrieve", "search", "show",
    "stat", "suggest", "summarise", "summarize", "tail", "translate", "tree", "validate", "view", "whoami",
})  # fmt: skip
_CREATE = frozenset({
    "add", "append", "apply", "ask", "begin", "book", "buy", "cast", "clone", "comment", "copy", "create", "deposit",
    "donate", "draft", "enrol", "enroll", "file", "follow", "fund", "generate", "grant", "import", "insert", "invite",
    "issue", "join", "launch", "like", "make", "mkdir", "new", "notify", "open", "order", "pay", "place", "post",
    "propose", "publish", "purchase", "push", "record", "register", "reply", "report", "request", "reserve",
    "schedule", "send", "share", "sign", "start", "store", "submit", "subscribe", "tell", "touch", "transfer",
    "trigger", "upload", "vote", "watch", "write",
})  # fmt: skip
_UPDATE = frozenset({
    "adjust", "assign", "change", "checkout", "close", "commit", "configure", "edit", "enable", "lock", "mark",
    "merge", "modify", "move", "mv", "patch", "put", "rate", "rename", "reorder", "replace", "reschedule", "resize",
    "resolve", "restore", "save", "set", "swap", "switch", "tag", "toggle", "unlock", "update", "upsert",
})  # fmt: skip
_REMOVE = frozenset({
    "abort", "archive", "ban", "block", "cancel", "cancellation", "clear", "deactivate", "delete", "deletion",
    "deregister", "destroy", "detach", "disable", "discard", "drop", "erase", "evict", "expire", "flush", "forget",
    "kill", "poweroff", "prune", "purge", "reboot", "removal", "remove", "reset", "revocation", "revoke", "rm",
    "rmdir", "shutdown", "terminate", "trash", "truncate", "uninstall", "unpublish", "unregister", "void", "wipe",
})  # fmt: skip
_UNDOES = frozenset({
    "assign", "bookmark", "favorite", "favourite", "follow", "like", "link", "mount", "pin", "register", "share",
    "star", "subscribe", "tag", "watch",
})  # fmt: skip
"""Verbs that `un` takes back: `unfollow`."""
_END = frozenset({"disconnect", "logoff", "logout", "signout"})
_KINDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("remove", _REMOVE), ("end", _END), ("update", _UPDATE), ("create", _CREATE), ("read", _READ),
)  # fmt: skip
READING = _READ
ACTING = _CREATE | _UPDATE | _REMOVE | _END
_SAFE = ("GET", "HEAD", "OPTIONS")
_METHOD_WORDS = frozenset({"delete", "get", "head", "options", "patch", "post", "put"})
UNTOLD = "nothing tells"
"""Why a tool is taken for one that changes something although no word says so."""
_VERSION = re.compile(r"api|v\d+|rest")


def kind_of(protocol: ToolProtocol) -> tuple[Kind, str]:
    """What a tool seems to do, and a clause that says why.

    The more careful reading wins: a GET that is called `delete_user` removes, a POST that nothing tells of creates.
    """
    from probing.effects.gets import acts

    method = protocol.binding.method.upper() if isinstance(protocol.binding, HttpBinding) else ""
    if isinstance(protocol.binding, HttpBinding) and method in _SAFE:
        return acts(protocol, protocol.binding) or ("read", f"it is a {method}")
    named = kind_of_name(protocol)
    if named is not None and named[0] in ("remove", "end"):
        return named
    if method == "DELETE":
        return "remove", "it is a DELETE"
    if named is None and protocol.annotations.read_only and protocol.binding is not None and not method:
        return "read", "its source declares it"
    if method in ("PUT", "PATCH"):
        return "update", f"it is a {method}"
    if named is not None:
        return named
    return ("create", "it is a POST") if method else ("update", UNTOLD)


def kind_of_name(protocol: ToolProtocol) -> tuple[Kind, str] | None:
    """What the first verb of a tool's name says, else the first word of its description; `None` where neither does."""
    words = [word for word in snake(protocol.name).split("_") if not _VERSION.fullmatch(word)]
    if isinstance(protocol.binding, HttpBinding) and words[:1] == [protocol.binding.method.lower()]:
        words = words[1:]  # a name made of method and path: its first word says no more than the method
        found = _said([word for word in words if word in _REMOVE])
        return (found, f"its path says {_first(words, _REMOVE)!r}") if found else None
    kind = _said(words)
    if kind is not None:
        return kind, f"its name says {next(word for word in words if kind_of_word(_joined(words, word)) == kind)!r}"
    first = re.match(r"[A-Za-z]+", protocol.description)
    told = kind_of_word(_bare(first[0].lower())) if first else None
    return (told, f"its description begins with {first[0]!r}") if told and first else None


def repeats_harmlessly(protocol: ToolProtocol) -> bool:
    """Whether a call may be made a second time to see what that changes: not where each tells or pays somebody."""
    from protocols.mark_words import PAYS, SENDS, TELLS

    words = set(snake(protocol.name).split("_")[:2])
    return not words & (SENDS | PAYS | TELLS)


def _said(words: list[str]) -> Kind | None:
    """The kind of the first verb, or of a more drastic one that `and` or `or` adds to it (`get_or_create`)."""
    kinds = [(place, kind) for place, word in enumerate(words) if (kind := kind_of_word(_joined(words, word)))]
    if not kinds:
        return None
    added = [kind for place, kind in kinds if place and words[place - 1] in ("and", "or", "then")]
    order = [kind for kind, _ in _KINDS]
    return min([kinds[0][1], *added], key=order.index)


def _joined(words: list[str], word: str) -> str:
    """`log_out` → `logout`, `sign_off` → `signoff`; `check_in` is no verb that we know."""
    place = words.index(word)
    after = words[place + 1] if place + 1 < len(words) else ""
    return word + after if after in ("out", "off", "in") else word


def kind_of_word(word: str) -> Kind | None:
    """What a verb does; `None` for a word that is no verb that we know."""
    if word.startswith("un") and word[2:] in _UNDOES:
        return "remove"
    return next((kind for kind, words in _KINDS if word in words), None)


def _bare(word: str) -> str:
    """`deletes` → `delete`, `fetches` → `fetch`."""
    for ending in ("es", "s"):
        if word.endswith(ending) and kind_of_word(word.removesuffix(ending)):
            return word.removesuffix(ending)
    return word


def _first(words: list[str], known: frozenset[str]) -> str:
    return next(word for word in words if word in known)


def is_verb(word: str) -> bool:
    """Whether a word of a name says what a tool does rather than what with."""
    return kind_of_word(word) is not None
