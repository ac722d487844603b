"""By which name a part of a JSON value is judged: its own, or one that another part of the value says.

So `{"name": "Authorization", "value": …}`, `{"token": {"value": …}}`, `{"tokens": {"bob": …}}`, columns with rows,
pairs in lists, and the arguments of a command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from protocols.naming import split_words
from protocols.schema import Json, JsonObject
from protocols.secrets import texts as secret_texts
from protocols.secrets.names import is_secret, secret_kind
from protocols.secrets.values import is_label, is_not_word

MAPS = split_words("cookies passwords secrets")
"""Names of objects whose texts are all secrets."""
_PLURALS = ("keys", "tokens", "passcodes", "pins")
_CARRIERS = split_words("content current data new old plaintext raw string text v val value")
_NAMING = split_words(
    "attribute env field header id k key label name option param parameter path property setting var variable"
)
_VALUES = split_words("new v val value")
"""Keys beside a name (`_NAMING`) that hold its value, whatever it looks like."""
_LOOSE_VALUES = split_words(
    "after answer before body content current data default input new newvalue old oldvalue plaintext previous raw"
    " result string text to v val value"
)
"""Keys beside any text that names a secret. What they hold must look like one."""
_NAME = re.compile(r"[\w.\-:/\[\] ]{1,60}")
_MOST_WORDS = 3
_PLAIN = re.compile("passw|pwd|secret|kennwort", re.IGNORECASE)
_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.[A-Za-z]\w{1,4}")
_MOST_COLUMNS = 500
_MOST_ARGUMENTS = 1_000


class ValueName(NamedTuple):
    """A name by which a value is judged."""

    text: str = ""
    loose: bool = False
    """True if the value must also look like a secret, since the connection is not plain."""
    labelled: bool = False
    """True if words that a person reads are no secret under this name."""
    columns: tuple[str, ...] = ()
    """Names of the cells of each row below."""

    def is_secret_value(self, value: Json) -> bool:
        """Return True if the value is such a secret as the name says."""
        if not is_secret(self.text, value):
            return False
        if not isinstance(value, str) or secret_kind(self.text) == "number":
            return True
        spaced = any(map(str.isspace, value))
        if self.loose and (spaced or not is_not_word(value) or _FILE.fullmatch(value)):
            return False
        return not self.labelled or not (
            is_label(value) or (spaced and not any(map(is_not_word, value.split())))
        )


def iter_member_names(value: JsonObject, above: ValueName) -> Iterator[ValueName]:
    """Yield by what name each member of an object is judged."""
    columns = above.columns or _columns(value)
    said = _sibling_names(value)
    for key, item in value.items():
        if columns and isinstance(item, list | tuple) and not _is_header(item):
            yield ValueName(columns=columns)
        else:
            yield _name_of_member(key, value, above, said)


def _name_of_member(
    key: str, beside: JsonObject, above: ValueName, said: list[tuple[str, str]]
) -> ValueName:
    """Return the name of one member of an object."""
    lower = key.lower()
    if secret_kind(key) is not None:
        return ValueName(key)
    if lower == "value":
        for naming, name in said:
            if naming in _NAMING and re.fullmatch(r"[\w.\-]+", name):
                return ValueName(
                    name,
                    labelled=naming
                    not in ("name", "key", "variable", "var", "header", "field", "param"),
                )
    if lower in _CARRIERS and secret_kind(above.text) is not None:
        return above
    for naming, name in said if lower in _LOOSE_VALUES else ():
        if naming != lower:
            plain = naming in _NAMING or (naming == "type" and _PLAIN.search(name) is not None)
            return ValueName(name, labelled=True, loose=not plain or lower not in _VALUES)
    texts = all(isinstance(item, str) for item in beside.values())
    if texts and above.text.lower() in MAPS:
        return above
    if texts and above.text.lower().endswith(_PLURALS) and secret_kind(above.text) is not None:
        return ValueName(above.text, loose=True)
    return ValueName(key)


def _sibling_names(value: JsonObject) -> list[tuple[str, str]]:
    """Return the short texts of an object that are names of secrets, each with its key in small letters."""
    if not any(key.lower() in _LOOSE_VALUES for key in value if isinstance(key, str)):
        return []
    found = []
    for key, item in value.items():
        if not isinstance(item, str) or not _NAME.fullmatch(item.strip()):
            continue
        name = item.strip().rstrip(":")
        if len(name.split()) <= _MOST_WORDS and secret_kind(name) is not None:
            found.append((key.lower(), name))
    return sorted(found, key=lambda one: one[0] not in ("name", "key"))


def iter_item_names(value: Sequence[Json], above: ValueName) -> Iterator[ValueName]:
    """Yield by what name each item of a list is judged."""
    if above.columns:
        row = len(value) == len(above.columns) and not any(
            isinstance(item, list | tuple) for item in value
        )
        yield from _iter_cell_names(value, above.columns) if row else [above] * len(value)
    elif _is_table(value):
        header = tuple(map(str, value[0]))
        yield ValueName()
        yield from [ValueName(columns=header)] * (len(value) - 1)
    elif len(value) == 2 and isinstance(value[0], str) and secret_kind(above.text) is None:
        yield from _iter_cell_names(value, ("", ""))
    elif _is_command(value):
        yield from _iter_argument_names([str(item) for item in value], above)
    else:
        yield from [above] * len(value)


def _iter_cell_names(row: Sequence[Json], columns: tuple[str, ...]) -> Iterator[ValueName]:
    """Yield the names of a row's cells: of their columns, or in a row of two what the first one says."""
    said = row[0] if len(row) == 2 and isinstance(row[0], str) and _NAME.fullmatch(row[0]) else ""
    for number, column in enumerate(columns):
        if secret_kind(column) is not None:
            yield ValueName(column, loose=_PLAIN.search(column) is None, labelled=True)
        elif number == 1 and secret_kind(said) is not None and len(said.split()) <= _MOST_WORDS:
            flag = said.startswith("-")
            yield ValueName(said, loose=not flag)
        else:
            yield ValueName(column)


def _iter_argument_names(items: list[str], above: ValueName) -> Iterator[ValueName]:
    """Yield the names of a command's arguments: of the option before, and what command lines say of them."""
    found = set(secret_texts.find_text_secrets(shlex.join(items)))
    ends = tuple(f":{one}" for one in found)
    before = ""
    for item in items:
        if before.startswith("-") and not item.startswith("-") and secret_kind(before) is not None:
            yield ValueName(before)
        elif item in found or item.endswith(ends):
            yield ValueName("password")
        else:
            yield above
        before = item


def _is_command(value: Sequence[Json]) -> bool:
    """Return True for texts of which one is an option."""
    if not 1 < len(value) <= _MOST_ARGUMENTS or not all(isinstance(item, str) for item in value):
        return False
    return any(re.match(r"--?[A-Za-z]", str(item)) for item in value)


def _columns(value: JsonObject) -> tuple[str, ...]:
    """Return the names of columns that one member of an object lists for the rows of another; empty if none does."""
    parts = [item.values() if isinstance(item, Mapping) else [item] for item in value.values()]
    lists = [item for part in parts for item in part if isinstance(item, list | tuple) and item]
    if len(lists) < 2:
        return ()
    header = next((item for item in lists if _is_header(item)), ())
    return tuple(map(_column, header))


def _is_header(items: Sequence[Json]) -> bool:
    """Return True for names of columns of which one says that a secret stands below it."""
    if not 1 <= len(items) <= _MOST_COLUMNS:
        return False
    names = [_column(item) for item in items]
    return all(_NAME.fullmatch(name) for name in names) and any(
        secret_kind(name) is not None for name in names
    )


def _column(item: Json) -> str:
    """Return the name of a column, given as a text or as an object with its name."""
    if isinstance(item, Mapping):
        item = next(
            (item[key] for key in ("name", "key", "id", "field", "title", "label") if key in item),
            "",
        )
    return item if isinstance(item, str) else ""


def _is_table(value: Sequence[Json]) -> bool:
    """Return True for rows of one length of which the first one names the columns."""
    if len(value) < 2 or not isinstance(value[0], list | tuple) or not _is_header(value[0]):
        return False
    width = len(value[0])
    return width > 1 and all(
        isinstance(row, list | tuple) and len(row) == width for row in value[1:]
    )
