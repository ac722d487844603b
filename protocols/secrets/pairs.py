"""Finds the name that decides whether a part of a JSON value is a secret.

It may be the key of this part, or another text in the value. Examples of values that contain names
are `{"name": "Authorization", "value": …}`, `{"token": {"value": …}}`, `{"tokens": {"bob": …}}`,
rows of a table with column names, pairs in lists, and the arguments of a command.
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
"""Names of objects in which all texts are secrets."""
_PLURALS = ("keys", "tokens", "passcodes", "pins")
_CARRIERS = split_words("content current data new old plaintext raw string text v val value")
_NAMING = split_words(
    "attribute env field header id k key label name option param parameter path property setting"
    " var variable"
)
"""Keys whose value names another member: `name` in `{"name": "token", "value": …}`."""
_EXACT_NAMING = ("name", "key", "variable", "var", "header", "field", "param")
"""The keys in `_NAMING` whose value is always an exact name, and never a label for people."""
_VALUES = split_words("new v val value")
"""Keys whose value belongs to the name in the same object: `value` in the example of `_NAMING`.
If the name is that of a secret, their value is one, even if it looks like an ordinary word.
"""
_LOOSE_VALUES = split_words(
    "after answer before body content current data default input new newvalue old oldvalue"
    " plaintext previous raw result string text to v val value"
)
"""Keys whose value may belong to a name in the same object, or may have nothing to do with it. So
their value is a secret only if it also looks like one.
"""
_NAME = re.compile(r"[\w.\-:/\[\] ]{1,60}")
_MOST_WORDS = 3
_PLAIN = re.compile("passw|pwd|secret|kennwort", re.IGNORECASE)
_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.[A-Za-z]\w{1,4}")
_MOST_COLUMNS = 500
_MOST_ARGUMENTS = 1_000


class ValueName(NamedTuple):
    """The name of a part of a JSON value, which decides whether the part is a secret."""

    text: str = ""
    loose: bool = False
    """True if the name may not belong to the value. Then the value must also look like a secret."""
    labelled: bool = False
    """True if the name may be a label for people. Then ordinary words are not secrets."""
    columns: tuple[str, ...] = ()
    """Column names if the value is a table or one of its rows, else empty."""

    def is_secret_value(self, value: Json) -> bool:
        """Return True if a value that has this name is a secret."""
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
    """Yield, for each member of an object, the name that decides whether the member is a secret.

    `above` is the name of the object itself.
    """
    columns = above.columns or _columns(value)
    siblings = _sibling_names(value)
    is_public_key = "kty" in value and "d" not in value and "k" not in value  # RFC 7517
    has_only_texts = not is_public_key and all(isinstance(item, str) for item in value.values())
    for key, item in value.items():
        if columns and isinstance(item, list | tuple) and not _is_header(item):
            yield ValueName(columns=columns)
        elif secret_kind(key) is not None:
            yield ValueName(key)
        else:
            yield (
                _name_from_siblings(key.lower(), above, siblings)
                or _name_from_above(above, has_only_texts=has_only_texts)
                or ValueName(key)
            )


def _name_from_siblings(
    key: str, above: ValueName, siblings: list[tuple[str, str]]
) -> ValueName | None:
    """Return the name that other members of an object give to one of its members, or None.

    For example, the name is `token` for the member `value` of `{"name": "token", "value": …}`.
    `key` is the key of the member, in lower case. `siblings` are the names of secrets in the
    object, see `_sibling_names`. A member such as `value` may also have the name of the object
    itself, `above`.
    """
    if key == "value":
        for naming, name in siblings:
            if naming in _NAMING and re.fullmatch(r"[\w.\-]+", name):
                return ValueName(name, labelled=naming not in _EXACT_NAMING)
    if key in _CARRIERS and secret_kind(above.text) is not None:
        return above
    if key not in _LOOSE_VALUES:
        return None
    for naming, name in siblings:
        if naming != key:
            plain = naming in _NAMING or (naming == "type" and _PLAIN.search(name) is not None)
            return ValueName(name, labelled=True, loose=not plain or key not in _VALUES)
    return None


def _name_from_above(above: ValueName, *, has_only_texts: bool) -> ValueName | None:
    """Return the name of an object, such as `tokens`, if each of its members is such a secret.

    Otherwise return None. `has_only_texts` is True if all members are texts.
    """
    if not has_only_texts:
        return None
    name = above.text.lower()
    if name in MAPS:
        return above
    if name.endswith(_PLURALS) and secret_kind(above.text) is not None:
        return ValueName(above.text, loose=True)
    return None


def _sibling_names(value: JsonObject) -> list[tuple[str, str]]:
    """Return (key, text) for each text in an object that is the name of a secret.

    For example `("name", "token")` for `{"name": "token", "value": …}`. The key is in lower case.
    """
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
    """Yield, for each item of a list, the name that decides whether the item is a secret.

    `above` is the name of the list itself.
    """
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
    """Yield for each cell in a row of a table the name that decides whether it is a secret.

    It is the name of the column. In a row of two cells, the first may be the name of the second.
    """
    is_pair = len(row) == 2 and isinstance(row[0], str) and _NAME.fullmatch(row[0]) is not None
    first = str(row[0]) if is_pair else ""
    for number, column in enumerate(columns):
        if secret_kind(column) is not None:
            yield ValueName(column, loose=_PLAIN.search(column) is None, labelled=True)
        elif number == 1 and secret_kind(first) is not None and len(first.split()) <= _MOST_WORDS:
            yield ValueName(first, loose=not first.startswith("-"))
        else:
            yield ValueName(column)


def _iter_argument_names(items: list[str], above: ValueName) -> Iterator[ValueName]:
    """Yield for each argument of a command the name that decides whether it is a secret.

    It is the option before the argument if that is the name of a secret, `password` if the argument
    itself is recognized as a secret, and otherwise the name of the list, `above`.
    """
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
    """Return True if a list is probably a command: texts of which one is an option such as `-v`."""
    if not 1 < len(value) <= _MOST_ARGUMENTS or not all(isinstance(item, str) for item in value):
        return False
    return any(re.match(r"--?[A-Za-z]", str(item)) for item in value)


def _columns(value: JsonObject) -> tuple[str, ...]:
    """Return the column names in an object that represents a table.

    Such an object contains a list of column names and a list of rows. For any other object, the
    result is empty.
    """
    parts = [item.values() if isinstance(item, Mapping) else [item] for item in value.values()]
    lists = [item for part in parts for item in part if isinstance(item, list | tuple) and item]
    if len(lists) < 2:
        return ()
    header = next((item for item in lists if _is_header(item)), ())
    return tuple(map(_column, header))


def _is_header(items: Sequence[Json]) -> bool:
    """Return True if a list consists of column names, and one of them is the name of a secret."""
    if not 1 <= len(items) <= _MOST_COLUMNS:
        return False
    names = [_column(item) for item in items]
    return all(_NAME.fullmatch(name) for name in names) and any(
        secret_kind(name) is not None for name in names
    )


def _column(item: Json) -> str:
    """Return the name of a column from its description, which may be a text or an object.

    For example, the name is `id` for `"id"` and for `{"name": "id"}`.
    """
    if isinstance(item, Mapping):
        item = next(
            (item[key] for key in ("name", "key", "id", "field", "title", "label") if key in item),
            "",
        )
    return item if isinstance(item, str) else ""


def _is_table(value: Sequence[Json]) -> bool:
    """Return True if a list is a table: rows of equal length, of which the first has column names.

    One of the column names must be the name of a secret.
    """
    if len(value) < 2 or not isinstance(value[0], list | tuple) or not _is_header(value[0]):
        return False
    width = len(value[0])
    return width > 1 and all(
        isinstance(row, list | tuple) and len(row) == width for row in value[1:]
    )
