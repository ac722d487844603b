"""Guesses by name, format and look whether a value is sensitive, where no schema says so."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal

from atc.safety.taint.encodings import find_decodings
from atc.safety.taint.number_words import is_spelled_number
from atc.safety.taint.values import CURRENCIES, currency
from protocols.naming import PAYS, SENDS, TELLS, singular, snake
from protocols.protocol import ToolProtocol
from protocols.schema import JsonObject

Sensitivity = Literal["recipient", "url", "command", "amount"]

NAMES: Mapping[str, frozenset[str]] = {
    what: frozenset(words)
    for what, words in tomllib.loads(
        files("atc.safety.taint").joinpath("names.toml").read_text(encoding="utf-8")
    ).items()
}
"""Words of names by what they say, see `names.toml`."""

_LONGEST_ADDRESS = 400
"""Characters of an address of a person; a longer text is none."""
_LONGEST_NAME = 100
_LONGEST_UNIT = 40
HOW_MUCH = re.compile(r"[^\D0]|[一二三四五六七八九十百千万億兆]")
"""A digit other than zero."""
_MOST_WORDS = 4
"""Words of a label such as `Total amount (EUR)`; a text of more is a sentence."""

_EMAIL = re.compile(
    r"(?:(?:mailto|sips?|xmpp|im):)?(?:[^\s@<>,;:\"()]+|\"[^\"]+\")@(?:[^\s@<>,;:\"()]+\.[^\s@<>,;:\"()]+|\[[\da-f.:]+\])",
    re.IGNORECASE,
)
_NAMED_EMAIL = re.compile(r"[^<>]*<[^\s@<>]+@[^\s@<>]+>")
_PHONE = re.compile(
    r"(?:tel|sms):\S+|\(?\+\d[\d\s().-]{6,20}|00\d{1,3}[\s(/.-][\d\s()/.-]{6,20}", re.IGNORECASE
)
_COMMENTED_EMAIL = re.compile(
    r"([^\s()]+@[^\s()]+)\s*\([^()]*\)|[\w\s.-]{1,60}:\s*([^:;]+@[^:;]+);"
)
"""An e-mail address with a comment behind it, or a group of addresses (RFC 5322)."""
_WRITTEN_IBAN = re.compile(
    r"(?:IBAN:?\s*)?([A-Z]{2}\d{2}(?:[ .-]?[A-Z0-9]){11,30}?)(?:[\s,]+[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)?"
)
"""An IBAN, also in groups, with the word before it and a BIC behind it."""
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_WALLET = re.compile(r"0x[0-9a-f]{40}|(?:bc|tb|ltc)1[02-9ac-hj-np-z]{38,62}", re.IGNORECASE)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ADDRESS = re.compile(
    r"[\s<]*(?:(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}\S|www\.\S|(?:https?|wss?|ftp):\S|(?:javascript|vbscript):\S|data:[\w/+.-]*[;,])",
    re.IGNORECASE,
)
_RECORD = re.compile(
    r"(?!(?:https?|wss?|s?ftps?|ssh|git|file|smb|ldaps?|data|javascript):)[a-z][a-z0-9+-]*://[\w-]+(?:/[\w~-]+)+",
    re.IGNORECASE,
)
"""A name of a record such as `gid://shopify/Order/45`: of no usual scheme, and without a host of the network."""
_HOST = re.compile(
    r"(?:localhost|\[[0-9a-f:.]+\]|(?:[^\s./:@]+\.)+[^\s./:@]+)\.?(?::\d+)?(?:/.*)?", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_UUID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", re.IGNORECASE)
_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_HOST_FORMATS = frozenset({"hostname", "idn-hostname", "ipv4", "ipv6"})
_LABEL = re.compile(r"[^\W_]*[^\w\s]?|[\w/-]+(?: [\w/-]+){0,3}")
_PREFIXED = re.compile(r"[\w-]+[:/](?=[A-Z]{3,4}\Z)")
"""What stands before a code in `iso4217:USD`."""
_NAME = re.compile(r"[\w\s/.$#@~%&;*+()\[\]'\":\\-]*")
"""A label, or the way to a field; no text with fields of its own."""
_PLAIN = re.compile(r"[\w\s/.-]*", re.ASCII)
_STEPS = re.compile(r"[/.\[\]#$@\"'(){}:*]+")
"""What stands between the names of a JSON pointer, a JSONPath, or a name such as `order[amount]`."""


_WAY = re.compile(r"[/#$][\w/.$#\[\]~%-]*|[\w.\[\]-]+")
"""The name of a field or the way to it; the way to a file begins with no slash."""


class Guesses:
    """Guesses about the fields of one tool.

    `acts`: it may do something: what writes does, and what is named as sending (`sendMessage`).
    """

    def __init__(self, protocol: ToolProtocol) -> None:
        self._verbs = words = words_of(protocol.name)
        self._tells = (
            words[:1] != ()
            and words[0] in TELLS
            and (len(words) == 1 or words[1] in NAMES["persons"])
        )
        """Whether it is named as telling somebody something: `call`, `message_user`; not `message_login`."""
        self._is_body = len(protocol.parameters) == 1 and not self._tells and not {*words} & SENDS
        one_way = "from" not in map(str.lower, protocol.parameters)
        names = [{*words_of(name)} for name in protocol.parameters]
        self.acts = (
            protocol.writes
            or bool({*words[:1]} & (SENDS | PAYS))
            or self._tells
            or _may_pay(names, one_way)
        )
        self._to_somebody = one_way or bool({*words} & (SENDS | PAYS)) or self._tells
        """Whether `to` is no end of a way, a range or a conversion that has a beginning as well."""

    def field(self, name: str, here: list[JsonObject]) -> Sensitivity | None:
        """Return what the name and the format of a field say it is."""
        formats = {str(branch["format"]) for branch in here if "format" in branch}
        if formats & {"email", "idn-email"} and self.acts:
            return "recipient"
        said = self._by_name(words_of(name)) if _PLAIN.fullmatch(name) else self.names(name)
        return "url" if said in ("amount", None) and formats & _HOST_FORMATS else said

    def names(self, text: str) -> Sensitivity | None:
        """Return what the field is that a text names: `recipient`, `Total amount`, `/order/amount`, `$.to[0]`."""
        if len(text) > _LONGEST_NAME or len(text.split()) > _MOST_WORDS or is_email(text):
            return None
        if not _NAME.fullmatch(text):
            return None
        forms = [text] if _PLAIN.fullmatch(text) else find_decodings(text)
        steps = [
            step
            for form in forms
            for step in _STEPS.split(form.replace("~1", "/").replace("~0", "~"))
        ]
        return next(
            (kind for step in steps if (kind := self._by_name(words_of(step))) is not None), None
        )

    def names_exactly(self, text: str) -> Sensitivity | None:
        """Return what the text is the name of, if it is nothing but the plain name of a recipient or of an amount.

        It may be the way to a field: `amount`, `order.amount`, `/order/0/amount`; not `budget.xlsx` or `src/total`.
        """
        if len(text) > _LONGEST_NAME or not _WAY.fullmatch(text):
            return None
        steps = [step for step in _STEPS.split(text) if step and not step.isdigit()]
        words = {*words_of(steps[-1])} if steps else set[str]()
        return (
            self._by_name(words_of(steps[-1]))
            if words & (NAMES["recipients"] | NAMES["amounts"])
            else None
        )

    def _by_name(self, words: tuple[str, ...]) -> Sensitivity | None:
        """On a tool that only reads, a recipient is guessed by the plainest names alone and an amount never."""
        every = set(words)
        verbs = set(self._verbs)
        if not words or (
            words[-1] in NAMES["aside"] and not (words[-1] == "limit" and every & NAMES["amounts"])
        ):
            return None
        kept = words
        while len(kept) > 1 and kept[-1] in NAMES["of_an_address"]:
            kept = kept[:-1]
        executed = (words[-1] in NAMES["sources"] and verbs & {*NAMES["executes"], "run"}) or (
            words[-1] in NAMES["inputs"] and verbs & NAMES["executes"]
        )
        if words[-1] in ("id", "ids") and not every - {
            "email",
            "emails",
            "mail",
            "message",
            "id",
            "ids",
        }:
            return None  # a record's
        if every & NAMES["urls"]:
            return "url"
        if every & NAMES["commands"] or executed:
            return "command"
        if every & NAMES["recipients"]:
            return "recipient"
        return self._of_what_acts(words, kept) if self.acts else None

    def _of_what_acts(self, words: tuple[str, ...], kept: tuple[str, ...]) -> Sensitivity | None:
        every = set(words)
        verbs = set(self._verbs)
        if words == ("to",):
            return "recipient" if self._to_somebody else None
        sent = (verbs & SENDS or self._tells) and kept[-1] in NAMES["who"]
        to = kept[0] == "to" and kept[-1] in {*NAMES["who"], "to"}
        if kept[-1] in NAMES["recipients_of_writes"] or sent or to:
            return "recipient"
        paid = words[-1] in NAMES["amounts_of_payments"] and verbs & PAYS
        sum_of_money = every & NAMES["amounts"] or words[-1] in NAMES["money"] or paid
        if (
            not every & NAMES["amounts"] - {"sum", "total"}
            and words[-1].endswith("s")
            and words[-1] not in (NAMES["money"] | NAMES["amounts"] | NAMES["amounts_of_payments"])
        ):
            return None  # `total_pages` counts things
        return "amount" if sum_of_money and words[-1] not in NAMES["of_no_amount"] else None

    def is_prose(self, name: str) -> bool:
        """Return True if a field of this name holds what people write; the only argument may be a whole request."""
        last = {*words_of(name)[-1:]}
        return bool(last & NAMES["prose"]) and not (self._is_body and last & {"body", "content"})

    def look(
        self, name: str, here: list[JsonObject], value: str
    ) -> Sensitivity | Literal["opaque"] | None:
        """Return what a text says it is by itself: an address of a person or of the network, whatever its field is.

        What is named as prose (`text`, `note`) is none. Of a tool that only reads, addresses of the network count where
        name or format hint at one.
        """
        if self.is_prose(name):
            return None
        last = words_of(name)[-1:]
        hinted = bool({*last} & NAMES["maybe_urls"]) or any(
            b.get("format") in _URL_FORMATS for b in here
        )
        value = _read_as_browser(value)
        if self.acts and not hinted and _RECORD.fullmatch(value):
            return "opaque"
        if (self.acts or hinted) and _ADDRESS.match(value):
            return "url"
        if hinted and {*last} & NAMES["hosts"] and _HOST.fullmatch(value.strip()):
            return "url"
        return "recipient" if self.acts and _is_contact(value.strip()) else None


def _may_pay(names: list[set[str]], one_way: bool) -> bool:
    """Return True if arguments of these words are an amount and somebody who gets it, and none pages or filters."""
    if any(words & NAMES["filters"] for words in names):
        return False
    to = (
        NAMES["recipients"]
        | NAMES["recipients_of_writes"]
        | {"account", *(["to"] if one_way else [])}
    )
    return any(words & NAMES["amounts"] for words in names) and any(words & to for words in names)


@lru_cache(maxsize=16_384)
def words_of(name: str) -> tuple[str, ...]:
    """`toAddress`, `to-address` and `to_address` are the same words."""
    if not name.isascii():
        name = "".join(
            c for c in unicodedata.normalize("NFKD", name) if unicodedata.category(c) != "Mn"
        )
    return tuple(filter(None, snake(name).split("_")))


def is_field_name(name: str) -> bool:
    """Return True if the value of a field of this name is the name of another: `field`, `columns`."""
    return any(singular(word) in NAMES["of_a_name"] for word in words_of(name)[-1:])


def is_value_name(name: str) -> bool:
    """Return True if the name of a field says no more than that it has a value: `value`, `new_data`."""
    return any(singular(word) in NAMES["of_a_value"] for word in words_of(name)[-1:])


def has_nonzero_digit(text: str) -> bool:
    """Return True if the text has a digit other than zero, in whatever script."""
    return HOW_MUCH.search(text) is not None


def says_how_much(text: str) -> bool:
    """Return True if the text has a digit other than zero, or is a number in words."""
    return has_nonzero_digit(text) or is_spelled_number(text)


def may_be_part_of_amount(name: str, text: str) -> bool:
    """Return True if a text in a field `name`, within an object that is an amount by its own name, says how much.

    A note, a date, an id or a code beside the amount does not.
    """
    last = {*words_of(name)[-1:]}
    if last & (NAMES["aside"] | NAMES["of_no_amount"] | NAMES["prose"]):
        return False
    if _DATE.match(text) or _is_id(text):
        return False
    return says_how_much(text)


def _is_id(text: str) -> bool:
    """Return True for `cus_1234`, `pm-9000` and UUIDs, but not for `eur_9000`."""
    prefix = re.match(r"([A-Za-z]{1,12})[_-]\w", text)
    return _UUID.fullmatch(text) is not None or (prefix is not None and currency(prefix[1]) is None)


def is_unit_field(name: str) -> bool:
    """Return True if a field of this name says of what an amount is one: `currency`, `unit`, `decimals`."""
    words = words_of(name)
    while len(words) > 1 and words[-1] in NAMES["of_a_unit"]:
        words = words[:-1]
    if words[-1:] == ("token",):
        return len(words) == 1
    is_chosen_in = len(words) > 1 and words[-1] == "in"  # `pay_in`, `denominated_in`
    return is_chosen_in or bool({*words} & NAMES["currencies"] or {*words[-1:]} & NAMES["scales"])


def is_unit(text: str) -> bool:
    """Return True if the text names a currency, or says in what an amount is counted: `kEUR`, `cents`, `thousands`."""
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > _LONGEST_UNIT:
        return False
    prefixed = _PREFIXED.match(text)
    if prefixed is not None and text[prefixed.end() :] in CURRENCIES:
        return True
    text = text.rstrip(".!").replace(",", "")
    if not _LABEL.fullmatch(text):
        return False
    halves = (text[: len(text) // 2], text[len(text) // 2 :])  # `EURUSD`
    if currency(text) is not None or (
        text.isupper() and all(half in CURRENCIES for half in halves)
    ):
        return True
    words = words_of(text)
    return bool({*words} & NAMES["units"]) or any(
        len(word) > 2 and currency(word) is not None for word in words
    )


def is_unit_flag(name: str) -> bool:
    """Return True if a truth value of this name says in what an amount is counted: `in_cents`, `use_usd`."""
    words = words_of(name)
    is_currency = any(len(word) > 2 and currency(word) is not None for word in words)
    return is_currency or bool({*words} & NAMES["units"])


def is_page_token(name: str) -> bool:
    """Return True if a field of this name says from where on a search continues: `cursor`, `page_token`."""
    words = {*words_of(name)}
    return "cursor" in words or (
        "token" in words and bool(words & {"page", "continuation", "next"})
    )


def is_email(text: str) -> bool:
    """Return True if the whole text is one e-mail address."""
    return len(text) <= _LONGEST_ADDRESS and _EMAIL.fullmatch(text) is not None


def _read_as_browser(text: str) -> str:
    """Return the text in compatible forms of its signs, and without those that are not displayed."""
    text = unicodedata.normalize("NFKC", text).replace("。", ".")
    return "".join(
        "-" if unicodedata.category(c) == "Pd" else c
        for c in text
        if c not in "\t\r\n" and unicodedata.category(c) not in ("Cc", "Cf")
    )


def _is_contact(text: str) -> bool:
    """Return True if the text is nothing but e-mail addresses, a telephone number, an IBAN or a wallet's address."""
    if len(text) > _LONGEST_ADDRESS:
        return all(map(is_email, re.split(r"[,;\s]+", text)))
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    if parts and all(is_email(part) or _NAMED_EMAIL.fullmatch(part) for part in parts):
        return True
    if (named := _COMMENTED_EMAIL.fullmatch(text)) is not None:
        return _is_contact(named[1] or named[2])
    if any(pattern.fullmatch(text) for pattern in (_PHONE, _WALLET)) or _is_base58_address(text):
        return True
    iban = _WRITTEN_IBAN.fullmatch(text.upper())
    return iban is not None and _is_iban(re.sub(r"[\s.-]", "", iban[1]))


def _is_base58_address(text: str) -> bool:
    """Return True for a wallet's address with the checksum of Bitcoin, which other chains have taken over."""
    if not 25 <= len(text) <= 36 or not set(text) <= set(_BASE58):
        return False
    value = 0
    for sign in text:
        value = value * 58 + _BASE58.index(sign)
    if value.bit_length() > 8 * 25:
        return False
    data = value.to_bytes(25, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def _is_iban(text: str) -> bool:
    """By its check digits (ISO 13616)."""
    digits = "".join(str(int(c, 36)) for c in text[4:] + text[:4]) if _IBAN.fullmatch(text) else "0"
    return int(digits) % 97 == 1
