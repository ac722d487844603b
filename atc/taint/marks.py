"""Which arguments are sensitive: what a schema says with `x-atc-sensitive`, else a guess by name and format.

A sensitive argument decides whom something goes to (`recipient`), which address is opened or told (`url`), what is
executed (`command`) or how much is paid (`amount`). A declared mark always wins, `false` included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, get_args

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import resolve
from protocols.words import PAYS, SENDS, TELLS

Sensitivity = Literal["recipient", "url", "command", "amount"]

KEY = "x-atc-sensitive"
"""The keyword of an argument's schema."""

_KINDS: frozenset[str] = frozenset(get_args(Sensitivity))
_MAX_BRANCHES = 200

_LONGEST_ADDRESS = 400
"""Characters of an address of a person; a longer text is none."""

_EMAIL = re.compile(r"(?:mailto:)?[^\s@<>,;:\"()]+@[^\s@<>,;:\"()]+\.[^\s@<>,;:\"()]+", re.IGNORECASE)
_NAMED_EMAIL = re.compile(r"[^<>]*<[^\s@<>]+@[^\s@<>]+>")
_PHONE = re.compile(r"(?:tel|sms):\S+|\+\d[\d\s().-]{6,20}", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_WALLET = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?(?://|\\\\)\S|\s*www\.\S", re.IGNORECASE)
_HOST = re.compile(r"(?:localhost|\[[0-9a-f:.]+\]|(?:[^\s./:@]+\.)+[^\s./:@]+)\.?(?::\d+)?(?:/.*)?", re.IGNORECASE)

_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_HOST_FORMATS = frozenset({"hostname", "idn-hostname", "ipv4", "ipv6"})
_MOMENTS = frozenset({"date", "date-time", "time", "duration"})

# Words of names: those of an argument, and of its tool.

_RECIPIENTS = frozenset({
    "addressee", "addressees", "attendee", "attendees", "bcc", "beneficiary", "cc", "creditor", "iban", "invitee",
    "invitees", "mailto", "payee", "payees", "receiver", "receivers", "recipient", "recipients",
})  # fmt: skip
"""Who gets something, on whatever tool."""

_RECIPIENTS_OF_WRITES = frozenset({
    "approver", "assignee", "assignees", "channel", "channels", "chat", "collaborator", "collaborators", "delegate",
    "email", "emails", "fax", "mail", "mobile", "msisdn", "phone", "phones", "subscriber", "subscribers", "successor",
    "tel", "telephone", "wallet", "whatsapp",
})  # fmt: skip
"""Who gets something, where a tool does something."""

_WHO = frozenset({
    "account", "address", "contact", "contacts", "dest", "destination", "guest", "guests", "handle", "login", "member",
    "members", "number", "participant", "participants", "people", "person", "target", "targets", "user", "username",
    "users", "who", "whom", "with",
})  # fmt: skip
"""Who gets something, where a tool sends."""

_PERSONS = frozenset({"contact", "contacts", "customer", "member", "members", "people", "person", "user", "users"})

_OF_AN_ADDRESS = frozenset({"address", "addresses", "id", "ids", "list", "number", "numbers"})
"""Last words that change nothing: `phone_number` is a phone."""

_ASIDE = frozenset({
    "count", "country", "currency", "date", "day", "enabled", "format", "kind", "language", "limit", "locale", "month",
    "order", "page", "size", "status", "time", "timezone", "type", "verified", "year",
})  # fmt: skip
"""Last words of what is said about a thing."""

_PROSE = frozenset({
    "body", "comment", "content", "description", "message", "note", "notes", "reason", "reference", "remark", "subject",
    "summary", "text", "title",
})  # fmt: skip
"""Last words of what people write."""

_URLS = frozenset({"callback", "endpoint", "href", "iri", "url", "urls", "webhook", "webhooks"})
"""Addresses of the network."""

_MAYBE_URLS = frozenset({
    "domain", "domains", "feed", "homepage", "host", "hostname", "image", "ip", "link", "links", "location", "origin",
    "photo", "picture", "proxy", "remote", "repo", "repository", "server", "site", "source", "src", "target", "uri",
    "uris", "website",
})  # fmt: skip
"""Addresses of the network, where the value looks like one."""

_HOSTS = frozenset({"domain", "domains", "host", "hostname", "ip", "proxy", "remote", "server", "site", "website"})
"""Of those, where a bare host does."""

_COMMANDS = frozenset({"argv", "bash", "cmd", "cmdline", "command", "commands", "powershell", "shell", "sql"})
"""What is executed."""

_SOURCES = frozenset({
    "code", "expression", "javascript", "program", "python", "script", "snippet", "statement", "statements",
})  # fmt: skip
"""What is executed, where a tool runs or executes."""

_INPUTS = frozenset({"args", "arguments", "input", "line", "query", "source"})
"""What is executed, where a tool executes."""

_EXECUTES = frozenset({
    "bash", "console", "eval", "exec", "execute", "graphql", "interpreter", "python", "repl", "shell", "sql", "ssh",
    "terminal",
})  # fmt: skip
"""Words of tools that execute."""

_AMOUNTS = frozenset({
    "amount", "amounts", "bid", "budget", "cash", "charge", "cost", "credit", "debit", "deposit", "donation", "fee",
    "money", "payment", "price", "refund", "salary", "sum", "tip", "total", "wage", "withdrawal",
})  # fmt: skip
"""How much is paid."""

_MONEY = frozenset({"cents", "chf", "dollars", "eur", "euros", "gbp", "jpy", "pence", "pounds", "usd", "yen"})
"""Last words of amounts."""

_AMOUNTS_OF_PAYMENTS = frozenset({"qty", "quantity", "shares", "units", "value"})
"""How much, where a tool pays."""

_OF_NO_AMOUNT = frozenset({"by", "card", "code", "id", "ids", "method", "name", "note", "option", "pages", "reason"})
"""Last words of what is no amount although a word of one stands before."""


def acts(protocol: ToolProtocol) -> bool:
    """Whether a call may do something to the world: what writes does, and what is named as sending (`sendMessage`)."""
    words = _words(protocol.name)
    return protocol.writes or bool({*words[:1]} & (SENDS | PAYS)) or _tells(words)


def declared(branches: list[JsonObject]) -> Sensitivity | Literal[False] | None:
    """What the schemas of one place say with `x-atc-sensitive`; None where they say nothing.

    A kind wins over `false` where they differ. A mark that is none of the four kinds is the strictest, `command`.
    """
    said = [branch[KEY] for branch in branches if branch.get(KEY) is not None]
    for mark in said:
        if mark is not False:
            return mark if isinstance(mark, str) and mark in _KINDS else "command"  # type: ignore[return-value]
    return False if said else None


def guessed(name: str, branches: list[JsonObject], protocol: ToolProtocol) -> Sensitivity | None:
    """What the name and the format of an argument (or of a field within one) say it is.

    A closed set of values, a truth value and a moment are never guessed to be sensitive. On a tool that only reads,
    a recipient is guessed by the plainest names alone and an amount never.
    """
    if any("enum" in branch or "const" in branch for branch in branches):
        return None
    types = {kind for branch in branches for kind in _types(branch)}
    formats = {str(branch["format"]) for branch in branches if "format" in branch}
    if types == {"boolean"} or formats & _MOMENTS:
        return None
    words = _words(name)
    if words == ("to",) and not _to_somebody(protocol):
        return None
    said = _of_name(words, acts(protocol), _words(protocol.name))
    if said == "amount" or said is None:
        said = ("url" if formats & _HOST_FORMATS else None) or said
    if formats & {"email", "idn-email"} and acts(protocol):
        return "recipient"
    return None if said == "amount" and types and not types & {"number", "integer", "string", "object"} else said


def by_shape(name: str, branches: list[JsonObject], value: str, protocol: ToolProtocol) -> Sensitivity | None:
    """What a text says it is by itself: an address of a person or of the network, whatever its argument is named.

    What is named as prose (`text`, `note`) is none. Of a tool that only reads, addresses of the network count where
    name or format hint at one.
    """
    words = _words(name)
    if words and words[-1] in _PROSE:
        return None
    hinted = (bool(words) and words[-1] in _MAYBE_URLS) or any(b.get("format") in _URL_FORMATS for b in branches)
    if (acts(protocol) or hinted) and _ADDRESS.match(value):
        return "url"
    if hinted and words and words[-1] in _HOSTS and _HOST.fullmatch(value.strip()):
        return "url"
    return "recipient" if acts(protocol) and _reaches_somebody(value.strip()) else None


def is_email(text: str) -> bool:
    """Whether the whole text is one e-mail address."""
    return len(text) <= _LONGEST_ADDRESS and _EMAIL.fullmatch(text) is not None


def _reaches_somebody(text: str) -> bool:
    """Whether the text is nothing but e-mail addresses, a telephone number, an IBAN or a wallet's address."""
    if len(text) > _LONGEST_ADDRESS:
        return all(map(is_email, re.split(r"[,;\s]+", text))) and bool(text)
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    if parts and all(is_email(part) or _NAMED_EMAIL.fullmatch(part) for part in parts):
        return True
    return any(pattern.fullmatch(text) for pattern in (_PHONE, _WALLET)) or _is_iban(text)


def _is_iban(text: str) -> bool:
    """By its check digits (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def branches(schema: Json, root: JsonObject) -> list[JsonObject]:
    """The schema of one place and all that it is combined from (`allOf`, `anyOf`, `oneOf`), references followed."""
    found: list[JsonObject] = []
    waiting: list[Json] = [schema]
    while waiting and len(found) < _MAX_BRANCHES:
        here = resolve(waiting.pop(0), root)
        if here and not any(here is other for other in found):
            found.append(here)
            for keyword in ("allOf", "anyOf", "oneOf"):
                waiting += here.get(keyword, ())
    return found


@lru_cache(maxsize=4096)
def _of_name(words: tuple[str, ...], acting: bool, tool: tuple[str, ...]) -> Sensitivity | None:
    everything, verbs = set(words), set(tool)
    if not words or (words[-1] in _ASIDE and not (words[-1] == "limit" and everything & _AMOUNTS)):
        return None
    kept = words
    while len(kept) > 1 and kept[-1] in _OF_AN_ADDRESS:
        kept = kept[:-1]
    if everything & _URLS:
        return "url"
    executed = (words[-1] in _SOURCES and verbs & {*_EXECUTES, "run"}) or (words[-1] in _INPUTS and verbs & _EXECUTES)
    if everything & _COMMANDS or executed:
        return "command"
    if everything & _RECIPIENTS:
        return "recipient"
    if not acting:
        return None
    if kept[-1] in _RECIPIENTS_OF_WRITES or words == ("to",) or (kept[0] == "to" and kept[-1] in {*_WHO, "to"}):
        return "recipient"
    if (verbs & SENDS or _tells(tool)) and kept[-1] in _WHO:
        return "recipient"
    paid = words[-1] in _AMOUNTS_OF_PAYMENTS and verbs & PAYS
    if (everything & _AMOUNTS or words[-1] in _MONEY or paid) and words[-1] not in _OF_NO_AMOUNT:
        return "amount"
    return None


def _tells(tool: tuple[str, ...]) -> bool:
    """Whether a tool is named as telling somebody something: `call`, `message_user`; not `message_login`."""
    return tool[:1] != () and tool[0] in TELLS and (len(tool) == 1 or tool[1] in _PERSONS)


def _to_somebody(protocol: ToolProtocol) -> bool:
    """Whether an argument named `to` is no end of a way, a range or a conversion that has a beginning as well."""
    name = _words(protocol.name)
    return "from" not in map(str.lower, protocol.parameters) or bool(set(name) & (SENDS | PAYS)) or _tells(name)


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    """`toAddress`, `to-address` and `to_address` are the same words."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(re.findall(r"[^\W_]+", parted.lower()))


def _types(schema: JsonObject) -> Iterator[str]:
    named = schema.get("type", ())
    yield from [named] if isinstance(named, str) else named
