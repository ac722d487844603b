"""Whether a GET is believed to read: not where its path, its name, an argument or its description says that it acts.

By HTTP's rules a GET changes nothing, and many services do not keep them. What is doubtful counts as a write: wrongly
taken for one, a tool waits for a person's permission; wrongly taken for a read, it would be called without asking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote_plus

from probing.effects.words import ACTING, READING, Kind, kind_of_word
from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.words import singular, snake

_ALSO = frozenset({
    "abandon", "absorb", "accelerate", "accept", "acknowledge", "activate", "adopt", "advance", "amend", "approve",
    "arm", "arrange", "assemble", "assume", "attach", "attend", "authorise", "authorize", "backfill", "bake", "ban",
    "bid", "bind", "blacklist", "block", "book", "bookmark", "boost", "boot", "brew", "broadcast", "burn",
    "calibrate", "call", "capture", "charge", "checkin", "checkout", "claim", "clean", "cleanse", "cleanup", "commit",
    "compact", "compensate", "complete", "compose", "confirm", "connect", "consent", "consolidate", "consume",
    "contribute", "cook", "correct", "crash", "dance", "debit", "decline", "decommission", "decrement", "defer",
    "delegate", "deliver", "demote", "deny", "deploy", "deprecate", "deprovision", "dequeue", "detonate", "dial",
    "disarm", "disband", "disburse", "discharge", "dislike", "dismiss", "disown", "dispatch", "dispense",
    "disqualify", "distribute", "downgrade", "downvote", "drain", "draw", "drink", "dry", "duplicate", "eat", "eject",
    "elevate", "emit", "empty", "encrypt", "enforce", "engage", "enlist", "enqueue", "enrich", "escalate", "evacuate",
    "exclude", "exec", "execute", "exit", "expel", "expire", "extend", "fail", "favorite", "favourite", "finalise",
    "finalize", "finish", "fire", "fix", "flag", "flick", "flip", "fork", "forward", "freeze", "fulfil", "fulfill",
    "gift", "halt", "handoff", "hangup", "heal", "hibernate", "hide", "hire", "ignite", "ignore", "impersonate",
    "increment", "ingest", "init", "initialise", "initialize", "initiate", "inject", "install", "interrupt",
    "invalidate", "invoke", "kick", "kickstart", "leave", "lend", "link", "liquidate", "mail", "maintain",
    "materialise", "materialize", "message", "migrate", "mint", "mobilise", "mobilize", "mount", "mute", "nominate",
    "nudge", "nuke", "obliterate", "offboard", "optimise", "optimize", "optin", "optout", "oust", "override",
    "overwrite", "pardon", "park", "pause", "pin", "play", "poke", "pop", "populate", "postpone", "pour", "print",
    "prioritise", "prioritize", "process", "procure", "prolong", "promote", "provision", "punch", "punish",
    "quarantine", "quiesce", "quit", "raise", "reactivate", "reassign", "rebase", "rebuild", "recalculate", "recall",
    "recharge", "reclaim", "reconcile", "reconnect", "recover", "recreate", "recycle", "redact", "redeem", "redeploy",
    "redirect", "redo", "refill", "refresh", "refund", "regenerate", "reimburse", "reindex", "reinstall", "reinstate",
    "reject", "relaunch", "release", "reload", "relocate", "remap", "remind", "remit", "renew", "rent", "reopen",
    "repair", "replay", "replenish", "replicate", "repost", "reprocess", "requeue", "rescan", "resend", "restart",
    "resubmit", "resume", "resync", "retire", "retrigger", "retry", "return", "retweet", "reverse", "revert",
    "reward", "rewind", "rewrite", "ring", "rollback", "rollout", "rotate", "run", "scan", "scrap", "scrub", "seize",
    "sell", "settle", "ship", "shred", "shrink", "shut", "shutoff", "signoff", "signup", "silence", "skip", "sleep",
    "smash", "snapshot", "snooze", "spam", "spawn", "spend", "spin", "split", "spray", "squash", "squeeze", "stake",
    "star", "stir", "stop", "summon", "supersede", "surrender", "suspend", "swap", "sweep", "swipe", "sync",
    "synchronise", "synchronize", "takedown", "takeoff", "teardown", "test", "throttle", "tip", "topup", "train",
    "transition", "transmit", "trim", "tune", "turnoff", "turnon", "tweet", "undo", "unlink", "unload", "unmute",
    "unpause", "unpin", "unset", "upgrade", "upvote", "vacate", "vacuum", "vaporise", "vaporize", "verify", "veto",
    "waive", "wake", "warn", "wash", "whitelist", "wire", "withdraw", "withhold", "yank", "zap",
})  # fmt: skip
"""Verbs of a GET that does something, besides those of every tool."""
_SAY_NOTHING = frozenset({
    "ask", "cancellation", "cast", "deletion", "enrol", "file", "fund", "generate", "make", "new", "place", "rate",
    "record", "removal", "report", "revocation", "schedule", "store", "tell",
})  # fmt: skip
"""Words of tools that act which mostly mean a thing in the path of a GET."""
_NOUNS_TOO = frozenset({
    "advance", "archive", "ban", "begin", "bid", "block", "book", "bookmark", "boost", "buy", "call", "change",
    "charge", "checkin", "checkout", "claim", "clone", "close", "comment", "commit", "complete", "copy", "dance",
    "debit", "deposit", "draft", "draw", "drink", "drop", "favorite", "favourite", "fire", "fix", "flag", "flush",
    "follow", "fork", "forward", "freeze", "gift", "grant", "hide", "hire", "import", "invite", "issue", "join",
    "kick", "launch", "like", "link", "lock", "mail", "mark", "merge", "message", "mount", "move", "mute", "open",
    "order", "override", "park", "patch", "pause", "pin", "play", "pop", "post", "print", "process", "punch",
    "purchase", "push", "put", "raise", "recall", "redirect", "release", "rent", "repair", "replay", "reply",
    "request", "reserve", "resume", "return", "reverse", "reward", "ring", "run", "scan", "set", "share", "ship",
    "sign", "skip", "sleep", "snapshot", "spam", "spin", "split", "spray", "stake", "star", "swap", "swipe", "switch",
    "sync", "tag", "test", "tip", "touch", "train", "transfer", "transition", "trash", "trim", "tweet", "update",
    "upload", "void", "vote", "watch", "wire", "write",
})  # fmt: skip
"""Verbs that are nouns as well: `/run/{id}` and `/vote/count` are things, `/jobs/{id}/run` is not."""
_PLURALS = frozenset({
    "abort", "add", "deploy", "fail", "install", "kill", "pay", "refund", "renew", "reset", "restart", "retry",
    "sell", "signup", "start", "stop", "submit", "trigger", "upgrade", "withdraw",
})  # fmt: skip
"""Further verbs whose plural is that of a noun: `/triggers`."""
_THINGS = frozenset({
    "block", "issue", "link", "mail", "message", "post", "release", "reverse", "star", "tag", "tip", "train", "tweet",
    "watch",
})  # fmt: skip
"""Of these, the ones that are verbs only behind an id, or with an object: `/users/{id}/block`."""
_OF_IT = frozenset({
    "amount", "api", "balance", "code", "config", "content", "count", "data", "date", "detail", "fee", "feed",
    "history", "id", "info", "information", "kind", "limit", "list", "log", "metadata", "name", "number", "option",
    "page", "policy", "price", "queue", "range", "rate", "reason", "report", "result", "schema", "score", "size",
    "state", "status", "summary", "time", "total", "type", "url", "view", "volume",
})  # fmt: skip
"""Nouns that follow a noun: `/order/history`."""
_OF_AN_ACT = frozenset({"code", "date", "fee", "policy", "price", "rate", "reason", "time", "type", "url"})
"""Those that follow a verb: `/start-times`."""
_HELD = frozenset({
    "abstract", "access", "account", "activity", "address", "agenda", "alias", "attendance", "author", "availability",
    "avatar", "average", "balance", "bio", "biography", "body", "bracket", "branding", "brief", "budget", "calendar",
    "capacity", "cast", "category", "chart", "children", "citation", "city", "closest", "color", "company",
    "component", "contact", "content", "context", "country", "cover", "current", "description", "detail", "diff",
    "distance", "duration", "email", "energy", "error", "evolution", "family", "feed", "filmography", "footer",
    "forecast", "gender", "genre", "geometry", "graph", "group", "header", "health", "history", "hourly", "html",
    "icon", "image", "index", "info", "inventory", "invoice", "item", "json", "key", "label", "language", "last",
    "latest", "lineup", "location", "logo", "lyric", "manifest", "map", "markdown", "member", "menu", "meta",
    "metadata", "model", "name", "nearby", "neighbourhood", "next", "nutrition", "output", "overview", "owner",
    "page", "parent", "path", "pdf", "people", "phone", "photo", "picture", "plan", "plot", "population", "position",
    "preview", "previous", "price", "profile", "progress", "quality", "quota", "quote", "rank", "raw", "readme",
    "receipt", "recipe", "related", "result", "role", "root", "roster", "route", "salary", "schema", "season",
    "series", "similar", "size", "speed", "squad", "staff", "stage", "state", "stock", "style", "subtitle", "summary",
    "table", "team", "temperature", "text", "thumbnail", "timeline", "timezone", "title", "total", "trace", "track",
    "trailer", "transcript", "tree", "trend", "type", "upcoming", "usage", "user", "value", "variant", "version",
    "video", "wallet", "weather", "website", "wiki", "xml",
})  # fmt: skip
"""Further nouns behind an id: `/players/{id}/roster`. A word there that is none of those that we know may be a verb."""
_NOUN_LIKE = re.compile(
    r".*(?:acy|age|ance|ary|ata|ed|ence|er|ery|graphy|hood|ial|ics|ing|ion|ism|ity|logy|ment|ness|or|ory|ship|sis"
    r"|sure|ture|ty|ware)"
)
_COMMANDS = frozenset({"act", "action", "cmd", "command", "do", "exec", "execute", "verb"})
_MAYBE_COMMANDS = frozenset({"event", "func", "function", "mode", "op", "operation", "task"})
"""Arguments whose value says what is done: always, and where one of the values that are known is a verb."""
_FLAGS = frozenset({"approve", "confirm", "create", "notify", "pay", "publish", "send", "submit"})
"""Verbs by which an argument makes a GET do more than read: `?send_mail=true`; those that take away do too."""
_OVERRIDE = re.compile(r"_?(?:x_)?(?:http_)?method(?:_override)?")
_ENDINGS = re.compile(r"[a-z]?(?:e[dr]s?|ors?|ings?|ions?|ations?|able|als?|ances?|ments?|s)|rs?|ds?|ts?")
_DATES = frozenset({"after", "at", "before", "by", "date", "on", "since", "time", "until"})
_OPENING = frozenset({"apply", "call", "request", "return"})
"""Verbs with which the description of a read may begin: `Returns the list of …`."""
_ARTICLES = frozenset({"a", "all", "an", "another", "any", "every", "it", "one", "the", "this", "these", "your"})
_MINIMUM = 4
"""Letters of a verb that is found at the beginning of a word: `sendemail`."""

_ACTIONS = (ACTING | _ALSO) - _SAY_NOTHING
_STRICT = _ACTIONS - _NOUNS_TOO


def acts(protocol: ToolProtocol, http: HttpBinding) -> tuple[Kind, str] | None:
    """What a GET seems to do and a clause that says why; `None` where nothing says that it does more than read."""
    arguments = tuple(
        (http.wire_names.get(name, name), tuple(_values(schema))) for name, schema in protocol.parameters.items()
    )
    texts = (protocol.title[:200], protocol.description[:200])
    return _acts(protocol.name, texts, http.method.lower(), http.url, arguments)


@lru_cache(maxsize=4096)
def _acts(
    name: str, texts: tuple[str, ...], method: str, url: str, arguments: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[Kind, str] | None:
    path, _, query = url.partition("?")
    first = [re.match(r"[A-Za-z]+", text) for text in texts]
    said = {*_words(name)[:1], *(singular(found[0].lower()) for found in first if found)} - {method}
    verb = _of_path(path.split("/")[3:], trusted=bool(said & (READING | {"return"})))
    if verb:
        return _kind(verb), f"its path says {verb!r}"
    if verb := _of_name(name, method=method):
        return _kind(verb), f"its name says {verb!r}"
    for pair in filter(None, query.split("&")):
        argument, _, value = pair.partition("=")
        arguments = (*arguments, (unquote_plus(argument), (unquote_plus(value),)))
    for argument, values in arguments:
        if verb := _of_argument(argument, values):
            return _kind(verb), f"its argument {argument!r} may say what is to be done"
    for text in texts:
        if verb := _of_text(text):
            return _kind(verb), f"its description begins with {verb!r}"
    return None


def _of_path(segments: list[str], *, trusted: bool) -> str:
    """The first verb among the fixed parts of a path; empty where there is none.

    Without `trusted`, also a word that may be one: `/pets/{id}/frobnicate`.
    """
    parts = [re.sub(r"\.[a-z]{2,4}$", "", unquote_plus(part)) for part in segments if part]
    parts = [part for part in parts if not re.fullmatch(r"api|rest|v?\d[\d.]*", part)]
    for place, part in enumerate(parts):
        words = _words(re.sub(r"\{[^}]*\}", "", part).rpartition(".")[2])
        behind = parts[place + 1] if place + 1 < len(parts) else ""
        after_id = place > 0 and parts[place - 1].startswith("{")
        if not words:
            continue
        if part.startswith("{") and words[0] in _ACTIONS:  # `/jobs/{id}:cancel`
            return words[0]
        if len(words) == 1 and words[0] in _NOUNS_TOO:
            alone = not behind and (after_id or words[0] not in _THINGS)
            if alone or (behind and "{" not in behind and not _names_a_thing(behind)):
                return words[0]
        elif verb := _of_words(words):
            return verb
        elif after_id and not behind and len(words) == 1 and not trusted and not _is_noun(words[0]):
            return words[0]
    return ""


def _is_noun(word: str) -> bool:
    known = word in _OF_IT | _HELD | _SAY_NOTHING | READING or word.isdigit()
    return known or singular(word) != word or _NOUN_LIKE.fullmatch(word) is not None


def _of_name(name: str, *, method: str) -> str:
    words = _words(name)
    if not words or words[0] == method:
        return ""  # made of method and path
    if words[0] in READING:
        added = (word for before, word in pairwise(words) if before in ("and", "or", "then"))
        return next((word for word in added if word in _ACTIONS), "")
    alone = len(words) == 1 and words[0] in _NOUNS_TOO - _THINGS
    return _of_words(words) or (words[0] if alone else "")


def _of_words(words: list[str]) -> str:
    """The verb of a name in several words, or of one that is hardly a noun."""
    first, last = words[0], words[-1]
    if len(words) > 1 and first in _PLURALS and singular(last) in _OF_AN_ACT:
        return ""
    for word in (first, last) if first not in READING else (first,):
        if verb := _strict(word):
            return verb
    if len(words) > 1 and first in _NOUNS_TOO and (first == "mark" or not _names_a_thing(last)):
        return first
    if last in ("off", "on"):
        return last
    return ""


def _strict(word: str) -> str:
    """The verb of a word that is hardly a noun: `delete`, `deletes`, `deleting`, `deleteuser`."""
    if word in _STRICT:
        return word
    for before in ("un", "re"):
        if word.removeprefix(before) != word and word.removeprefix(before) in _ACTIONS:
            return word
    for ending, bare in (("ing", ("", "e")), ("es", ("", "e")), ("s", ("",))):
        stem = word.removesuffix(ending)
        for verb in (stem + add for add in bare) if stem != word else ():
            if verb in _STRICT and (ending == "ing" or verb not in _PLURALS):
                return verb
        if ending == "ing" and stem != word and stem[-1:] == stem[-2:-1] and stem[:-1] in _STRICT:
            return stem[:-1]
    for length in range(len(word) - 3, _MINIMUM - 1, -1):
        if word[:length] in ACTING & _STRICT and not _ENDINGS.fullmatch(word[length:]):
            return word[:length]
    return ""


def _names_a_thing(text: str) -> bool:
    """Whether a word that follows a noun and a verb alike makes it a noun: `/vote/count`, `/order_items`."""
    last = (_words(text) or [""])[-1]
    return last in _OF_IT or singular(last) != last or last in ("me", "stats", "details") or last in READING


def _of_argument(name: str, values: tuple[str, ...]) -> str:
    words = _words(name) or [""]
    key = "_".join(words)
    said = [word for value in values for word in _words(value)[:1]]
    if _OVERRIDE.fullmatch(key):
        told = "override" in words or name.startswith("_")
        return key if (told and not said) or set(said) & {"delete", "patch", "post", "put"} else ""
    if key in _COMMANDS | _MAYBE_COMMANDS:
        verb = next((word for word in said if word in _ACTIONS), "")
        return verb or (key if key in _COMMANDS and not said else "")
    flag = words[0] in _FLAGS or kind_of_word(words[0]) in ("remove", "end")
    return words[0] if flag and words[0] not in _NOUNS_TOO and words[-1] not in _DATES else ""


def _of_text(text: str) -> str:
    """The verb with which a description begins: `Sends the mail.`, `Log out the user.`, `Order the book.`"""
    words = re.findall(r"[a-z]+", text[:200].lower())[:3]
    if not words or singular(words[0]) in _OPENING:
        return ""
    bare = _joined([words[0].removesuffix("s"), *words[1:]])
    if verb := _strict(words[0]) or _strict(bare):
        return verb
    return words[0] if len(words) > 1 and singular(words[0]) in _NOUNS_TOO and words[1] in _ARTICLES else ""


def _words(text: str) -> list[str]:
    words = [word for word in snake(text).split("_") if word and not word.isdigit()]
    return [_joined(words), *words[2:]] if _joined(words) != "".join(words[:1]) else words


def _joined(words: list[str]) -> str:
    """`log_out` → `logout`."""
    return words[0] + words[1] if len(words) > 1 and words[1] in ("out", "off", "in") else "".join(words[:1])


def _values(schema: Json) -> Iterator[str]:
    if isinstance(schema, dict):
        for key in ("const", "default", "example"):
            if isinstance(schema.get(key), str):
                yield schema[key]
        for key in ("enum", "examples"):
            if isinstance(schema.get(key), list):
                yield from (value for value in schema[key] if isinstance(value, str))


def _kind(verb: str) -> Kind:
    return kind_of_word(verb) or "update"
