"""Guesses of whether an argument is sensitive, for schemas that do not declare this.

The guesses use the names, formats and values of fields.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from atc.safety.taint.contacts import is_contact, is_email
from atc.safety.taint.encodings import find_decodings
from atc.safety.taint.number_words import is_spelled_number
from atc.safety.taint.values import currency
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
"""Words that occur in names of fields and tools, grouped by their meaning; see `names.toml`."""

_LONGEST_NAME = 100
HOW_MUCH = re.compile(r"[^\D0]|[一二三四五六七八九十百千万億兆]")
"""A digit other than zero, or a Chinese numeral."""
_MOST_WORDS = 4
"""Maximum number of words in a label such as `Total amount (EUR)`. A longer text is a sentence."""

_ADDRESS = re.compile(
    r"[\s<]*(?:(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}\S|www\.\S|(?:https?|wss?|ftp):\S"
    r"|(?:javascript|vbscript):\S|data:[\w/+.-]*[;,])",
    re.IGNORECASE,
)
_RECORD = re.compile(
    r"(?!(?:https?|wss?|s?ftps?|ssh|git|file|smb|ldaps?|data|javascript):)"
    r"[a-z][a-z0-9+-]*://[\w-]+(?:/[\w~-]+)+",
    re.IGNORECASE,
)
"""The id of a record, such as `gid://shopify/Order/45`: with an unusual scheme, and without a host.
"""
_HOST = re.compile(
    r"(?:localhost|\[[0-9a-f:.]+\]|(?:[^\s./:@]+\.)+[^\s./:@]+)\.?(?::\d+)?(?:/.*)?", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_UUID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", re.IGNORECASE)
_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_HOST_FORMATS = frozenset({"hostname", "idn-hostname", "ipv4", "ipv6"})
_NAME = re.compile(r"[\w\s/.$#@~%&;*+()\[\]'\":\\-]*")
"""A text that may be a label or the path to a field, but that cannot contain fields itself."""
_PLAIN = re.compile(r"[\w\s/.-]*", re.ASCII)
_STEPS = re.compile(r"[/.\[\]#$@\"'(){}:*]+")
"""Separators between the names in a JSON pointer, a JSONPath, or a name such as `order[amount]`."""


_WAY = re.compile(r"[/#$][\w/.$#\[\]~%-]*|[\w.\[\]-]+")
"""The name of a field, or the path to a field, such as `/order/amount`. No file name."""


class Guesses:
    """Guesses of what the fields of one tool contain, from their names and values.

    A guess is one of the kinds of `Sensitivity`, or None. `acts` is True if the tool may do more
    than read: it writes, or its name says that it sends something (`sendMessage`), or its arguments
    look like a payment. `is_told_by_user` is True if the user, and not a document, says what the
    tool does.
    """

    def __init__(self, protocol: ToolProtocol, *, is_told_by_user: bool) -> None:
        self._is_told_by_user = is_told_by_user
        self._verbs = words = words_of(protocol.name)
        is_call = words[:1] != () and words[0] in TELLS
        self._contacts_person = is_call and (len(words) == 1 or words[1] in NAMES["persons"])
        """True if the name says that somebody is contacted: `call`, `message_user`, but not
        `message_login`.
        """
        is_message = self._contacts_person or bool({*words} & SENDS)
        self._may_take_request = len(protocol.parameters) == 1 and not is_message
        """True if the tool's only argument may be a whole request, such as a JSON text, because the
        tool does not send messages.
        """
        one_way = "from" not in map(str.lower, protocol.parameters)
        names = [{*words_of(name)} for name in protocol.parameters]
        self.acts = (
            protocol.writes
            or bool({*words[:1]} & (SENDS | PAYS))
            or self._contacts_person
            or _may_pay(names, one_way)
        )
        self._to_is_recipient = one_way or bool({*words} & (SENDS | PAYS)) or self._contacts_person
        """True if an argument `to` may be a recipient. Otherwise it is the end of a route, a range
        or a conversion.
        """

    def field_kind(self, name: str, here: list[JsonObject]) -> Sensitivity | None:
        """Return the sensitive kind that a field's name and format suggest, or None.

        `here` are the schemas that may apply to the field.
        """
        formats = {str(branch["format"]) for branch in here if "format" in branch}
        if formats & {"email", "idn-email"} and self.acts:
            return "recipient"
        is_plain = _PLAIN.fullmatch(name) is not None
        kind = self._kind_of_words(words_of(name)) if is_plain else self.named_kind(name)
        return "url" if kind in ("amount", None) and formats & _HOST_FORMATS else kind

    def named_kind(self, text: str) -> Sensitivity | None:
        """Return the sensitive kind of the field that a text names, or None if it names none.

        The text may be a name (`recipient`), a label (`Total amount`) or a path (`/order/amount`,
        `$.to[0]`).
        """
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
            (kind for step in steps if (kind := self._kind_of_words(words_of(step))) is not None),
            None,
        )

    def exactly_named_kind(self, text: str) -> Sensitivity | None:
        """Return the sensitive kind of a field if the text is surely the name of the field.

        The text must be the name of a recipient or an amount, or the path to such a field:
        `amount`, `order.amount`, `/order/0/amount`. For any other text, such as `budget.xlsx` or
        `src/total`, return None.
        """
        if len(text) > _LONGEST_NAME or not _WAY.fullmatch(text):
            return None
        steps = [step for step in _STEPS.split(text) if step and not step.isdigit()]
        words = {*words_of(steps[-1])} if steps else set[str]()
        if words.isdisjoint(NAMES["recipients"] | NAMES["amounts"]):
            return None
        return self._kind_of_words(words_of(steps[-1]))

    def _kind_of_words(self, words: tuple[str, ...]) -> Sensitivity | None:
        """Return the sensitive kind of a field whose name consists of these words, or None.

        If the tool only reads, only the clearest names of recipients count, and names of amounts do
        not.
        """
        every = set(words)
        if not words or _is_property(words) or _is_record_id(words):
            return None
        if every & NAMES["urls"]:
            return "url"
        if every & NAMES["commands"] or self._is_executed(words[-1]):
            is_harmless = self._is_told_by_user and self._is_query_of_reading_tool(words)
            return None if is_harmless else "command"
        if every & NAMES["recipients"]:
            return "recipient"
        return self._kind_on_acting_tool(words) if self.acts else None

    def takes_query(self, name: str) -> bool:
        """Return True if a field of this name contains a query, such as SQL, and the tool reads."""
        words = words_of(name)
        return bool(words) and self._is_query_of_reading_tool(words)

    def _is_query_of_reading_tool(self, words: tuple[str, ...]) -> bool:
        """Return True if a field contains a query, such as SQL, and the tool only reads.

        A query can do no more than the tool, if the user knows what that is. That is not so of a
        shell or a programming language, which may reach other hosts.
        """
        every = set(words)
        executing = {*self._verbs} & NAMES["executing_verbs"]
        if self.acts or (every & NAMES["commands"]) - NAMES["query_languages"]:
            return False
        if every & NAMES["query_languages"]:
            return True
        return words[-1] == "query" and executing <= NAMES["query_languages"] | {"exec", "execute"}

    def _is_executed(self, word: str) -> bool:
        """Return True if the tool probably executes the text in a field as a program.

        `word` is the last word of the field's name, such as `code` or `script`.
        """
        verbs = set(self._verbs)
        if word in NAMES["code"]:
            return bool(verbs & {*NAMES["executing_verbs"], "run"})
        return word in NAMES["executed_inputs"] and bool(verbs & NAMES["executing_verbs"])

    def _kind_on_acting_tool(self, words: tuple[str, ...]) -> Sensitivity | None:
        """Return the sensitive kind of a field name, for a tool that may do more than read."""
        if words == ("to",):
            return "recipient" if self._to_is_recipient else None
        return "recipient" if self._is_recipient(words) else self._amount_kind(words)

    def _is_recipient(self, words: tuple[str, ...]) -> bool:
        """Return True if a field name means a recipient. Endings like `address` are ignored."""
        kept = words
        while len(kept) > 1 and kept[-1] in NAMES["address_endings"]:
            kept = kept[:-1]
        if kept[-1] in NAMES["recipients_of_writes"]:
            return True
        sends = self._contacts_person or bool({*self._verbs} & SENDS)
        if sends and kept[-1] in NAMES["recipients_of_messages"]:
            return True
        return kept[0] == "to" and kept[-1] in {*NAMES["recipients_of_messages"], "to"}

    def _amount_kind(self, words: tuple[str, ...]) -> Literal["amount"] | None:
        """Return "amount" if these words mean an amount of money, not a number of things."""
        every = set(words)
        last = words[-1]
        is_paid = last in NAMES["amounts_of_payments"] and {*self._verbs} & PAYS
        if not (every & NAMES["amounts"] or last in NAMES["amount_endings"] or is_paid):
            return None
        of_money = NAMES["amount_endings"] | NAMES["amounts"] | NAMES["amounts_of_payments"]
        is_count = last.endswith("s") and last not in of_money  # `total_pages`
        if is_count and not every & NAMES["amounts"] - {"sum", "total"}:
            return None
        return None if last in NAMES["not_amounts"] else "amount"

    def is_prose(self, name: str) -> bool:
        """Return True if a field of this name contains text that people write, such as `note`.

        A field named `body` or `content` does not count if it may contain a whole request instead,
        because it is the tool's only argument.
        """
        last = {*words_of(name)[-1:]}
        is_request = self._may_take_request and last & {"body", "content"}
        return bool(last & NAMES["prose"]) and not is_request

    def value_kind(
        self, name: str, here: list[JsonObject], value: str
    ) -> Sensitivity | Literal["opaque"] | None:
        """Return the sensitive kind of a text that looks like a URL, an e-mail address or similar.

        `name` and `here` are the name and the schemas of its field. The result is None for fields
        that are named as prose (`text`, `note`). If the tool only reads, a URL counts only if the
        field's name or format suggests one.
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
        return "recipient" if self.acts and is_contact(value.strip()) else None


def _is_property(words: tuple[str, ...]) -> bool:
    """Return True if a name ends in a property of a thing, such as the `date` of a payment.

    `words` are the words of the name. `limit` is a property, too, but not in `amount_limit`, which
    is an amount.
    """
    is_limit = words[-1] == "limit" and not NAMES["amounts"].isdisjoint(words)
    return words[-1] in NAMES["properties"] and not is_limit


def _is_record_id(words: tuple[str, ...]) -> bool:
    """Return True if a field's name is that of an id, such as `message_id` or `email_id`.

    The field then identifies a message or an e-mail address, and does not contain one.
    """
    of_record = {"email", "emails", "mail", "message", "id", "ids"}
    return words[-1] in ("id", "ids") and of_record.issuperset(words)


def _may_pay(names: list[set[str]], one_way: bool) -> bool:
    """Return True if the arguments of a tool look like those of a payment.

    They do if one of them is an amount, one is a recipient, and none is a filter. `names` are the
    words of each argument's name. `one_way` is True if no argument is named `from`.
    """
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
    """Return the words of a name: `("to", "address")` for `toAddress` and for `to-address`."""
    if not name.isascii():
        name = "".join(
            c for c in unicodedata.normalize("NFKD", name) if unicodedata.category(c) != "Mn"
        )
    return tuple(filter(None, snake(name).split("_")))


def is_field_name(name: str) -> bool:
    """Return True if a field of this name holds names of other fields: `field`, `columns`."""
    return any(singular(word) in NAMES["name_fields"] for word in words_of(name)[-1:])


def is_value_name(name: str) -> bool:
    """Return True if a field's name says nothing but that it has a value: `value`, `new_data`."""
    return any(singular(word) in NAMES["value_fields"] for word in words_of(name)[-1:])


def has_nonzero_digit(text: str) -> bool:
    """Return True if the text has a digit other than zero, in any script."""
    return HOW_MUCH.search(text) is not None


def says_how_much(text: str) -> bool:
    """Return True if the text has a digit other than zero, or is a number in words."""
    return has_nonzero_digit(text) or is_spelled_number(text)


def may_be_part_of_amount(name: str, text: str) -> bool:
    """Return True if the text in the field `name` may be the number of an amount.

    The object with this field is an amount, such as `{"value": "12.50", "currency": "EUR"}`. A
    note, a date, an id or a code in it is not the number.
    """
    last = {*words_of(name)[-1:]}
    if last & (NAMES["properties"] | NAMES["not_amounts"] | NAMES["prose"]):
        return False
    if _DATE.match(text) or _is_id(text):
        return False
    return says_how_much(text)


def _is_id(text: str) -> bool:
    """Return True if a text is an id: `cus_1234`, `pm-9000` or a UUID, but not `eur_9000`."""
    prefix = re.match(r"([A-Za-z]{1,12})[_-]\w", text)
    return _UUID.fullmatch(text) is not None or (prefix is not None and currency(prefix[1]) is None)


def is_page_token(name: str) -> bool:
    """Return True if a field of this name says where a list continues: `cursor`, `page_token`."""
    words = {*words_of(name)}
    return "cursor" in words or (
        "token" in words and bool(words & {"page", "continuation", "next"})
    )


def _read_as_browser(text: str) -> str:
    """Return a URL in the form in which a browser reads it.

    Unicode variants of characters are replaced, and invisible characters are removed.
    """
    text = unicodedata.normalize("NFKC", text).replace("。", ".")
    return "".join(
        "-" if unicodedata.category(c) == "Pd" else c
        for c in text
        if c not in "\t\r\n" and unicodedata.category(c) not in ("Cc", "Cf")
    )
