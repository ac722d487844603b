"""Search of a text for fields that have sensitive values.

The fields may be written as in JSON or in another notation, and they may be encoded.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from atc.safety.taint.encodings import find_decodings
from atc.safety.taint.framed import find_parts, value_at
from atc.safety.taint.guesses import Guesses, has_nonzero_digit, says_how_much
from atc.safety.taint.kinds import ArgumentKinds
from atc.safety.taint.leaves import Leaf, Mark, Position, SensitiveKind, WorkBudget
from atc.safety.taint.notations import Field, find_assignments, find_fields, is_natural
from atc.safety.taint.opaque import is_opaque
from atc.safety.taint.pairs import NamedFields
from atc.safety.taint.values import equality_key

Walk = Callable[..., Iterator[Leaf]]
"""Function `(position, value, schemas, mark)` that yields the sensitive values in a JSON value."""

_LONGEST_READ = 200  # an amount begins within this many characters after its name
_PLAIN_WORDS = re.compile(
    r"(?:[A-Z]?[a-z]{0,30}\d{0,6}|\d{1,9})(?:[ _.-][A-Z]?[a-z]{1,30}){0,40}(?:[ _.-]\d{1,9}){0,2}"
    r"|[\w-]{0,5}",
    re.ASCII,
)
"""A text that has no field in any notation, and that is not encoded."""
_SPACED_SETTING = re.compile(r"[a-z_-]+ \d+")
"""A setting with only a space between its name and its value, such as `amount 5`."""
_LONGEST_BACKWARDS = 400  # a longer text is not read from its end
_CHARACTERS = 40  # this many characters of a text, in each decoding, cost as much as one value
_ENTITY = re.compile(r"&[A-Za-z]{2,12};")
"""An HTML entity, such as `&euro;`."""


class TextSearch:
    """Searches the texts of one argument for sensitive values.

    `walk` is a function that yields the sensitive values in a JSON value that is found in a text.
    """

    def __init__(
        self, guess: Guesses, kinds: ArgumentKinds, budget: WorkBudget, walk: Walk
    ) -> None:
        self._guess = guess
        self._kinds = kinds
        self._budget = budget
        self._walk = walk

    def find(
        self, position: Position, text: str, mark: Mark, *, is_joined: bool = False
    ) -> Iterator[Leaf]:
        """Yield the sensitive values in a text.

        Each sensitive field that is written as in JSON gives one value. If the text may contain
        sensitive values in other notations or encodings, the whole text is yielded. `is_joined` is
        True if the text was joined from several values.
        """
        if mark.declared:
            return
        if _PLAIN_WORDS.fullmatch(text) and not _SPACED_SETTING.fullmatch(text):
            return
        self._budget.spend(10 + len(text) // _CHARACTERS)
        visible = list(self._find_json_fields(position, text, mark))
        yield from visible
        kind = self._find_notation_kind(position, text)
        kind = kind or self._find_encoded_kind(position, text, mark, visible)
        if kind is None and self._guess.acts and not is_joined and is_opaque(text):
            kind = "opaque"
        if kind is not None:
            yield position.leaf(text, kind)

    # --- fields in the style of JSON

    def _find_json_fields(self, position: Position, text: str, mark: Mark) -> Iterator[Leaf]:
        """Yield the values of the sensitive fields in a text that are written as in JSON."""
        # Fields that other texts name are found by their notation.
        position = replace(position, named=NamedFields())
        around = position
        done = 0
        for part in find_parts(text):
            self._budget.spend(1)
            if part.start < done:
                continue
            if part.after is None:
                yield from self._kinds.iter_leaf(around, part.text, Mark(), [])
                continue
            around = position.below(part.text, part.text)
            field_mark = self._kinds.mark(around, [], mark)
            if field_mark.kind is None:
                continue
            try:
                value, end = value_at(text, part.after)
            except ValueError:
                # It is unclear where the value ends, so all text behind the name is one value.
                rest = text[part.after :].strip()
                if field_mark.kind != "amount" or has_nonzero_digit(rest[:_LONGEST_READ]):
                    yield around.leaf(rest, field_mark.kind)
                    return
                continue
            if isinstance(value, dict | list):
                done = end
                yield from self._walk(around, value, [], field_mark)
            elif value is not None and (field_mark.kind != "amount" or says_how_much(str(value))):
                yield from self._kinds.iter_leaf(around, value, field_mark, [])

    # --- fields in other notations

    def _find_notation_kind(self, position: Position, text: str) -> SensitiveKind | None:
        """Return the kind of the first sensitive field in a text that is not written as in JSON.

        The field may be in any other notation, such as XML. Return None if there is no such field.
        """
        if not self._guess.acts:
            return None
        as_json = {part.start for part in find_parts(text) if part.after is not None}
        for_people = self._guess.is_prose(position.name)
        is_prose = for_people or is_natural(text)
        found = [one for one in self._fields(text, prose=is_prose) if one.start not in as_json]
        if is_prose and not for_people:
            found += self._fields(find_assignments(text), prose=False)
        return next((kind for one in found if (kind := self._field_kind(one)) is not None), None)

    def _fields(self, text: str, *, prose: bool) -> Iterator[Field]:
        """Yield the fields of a text. Each of them uses up a part of the work budget."""
        for one in find_fields(text, prose=prose):
            self._budget.spend(1)
            yield one

    def _field_kind(self, one: Field) -> SensitiveKind | None:
        """Return the sensitive kind that a field's name suggests, or None.

        A field that is named as an amount counts only if a number follows the name.
        """
        kind = self._guess.named_kind(one.name)
        return kind if kind != "amount" or one.has_number else None

    # --- fields that appear only after decoding

    def _find_encoded_kind(
        self, position: Position, text: str, mark: Mark, visible: list[Leaf]
    ) -> SensitiveKind | None:
        """Return the kind of a sensitive field that appears only if a text is decoded, or None.

        `visible` are the sensitive values that were found without decoding.
        """
        known = {(leaf.kind, equality_key(leaf.value)) for leaf in visible}
        is_prose = self._guess.is_prose(position.name) or is_natural(text)
        plain = self._field_keys(text, is_prose=is_prose)
        if not is_prose and (kind := self._find_backwards_kind(text, plain)) is not None:
            return kind
        lines = {*text.split("\n")}
        for form in find_decodings(text)[1:]:
            changed = "\n".join(line for line in form.split("\n") if line not in lines)
            self._budget.spend(len(changed) // _CHARACTERS)
            for leaf in self._find_json_fields(position, changed if is_prose else form, mark):
                if (leaf.kind, equality_key(leaf.value)) not in known:
                    return leaf.kind
            new_kind = self._find_new_kind(changed, plain, is_prose=is_prose)
            if new_kind is not None:
                return new_kind
        return None

    def _field_keys(self, text: str, *, is_prose: bool) -> set[tuple[str, str]]:
        """Return the keys (see `_field_key`) of all fields in a text.

        Fields that appear only if HTML entities are decoded are included.
        """
        keys = set[tuple[str, str]]()
        if not self._guess.acts:
            return keys
        for form in (text, _ENTITY.sub(_decode_entity, text)):
            keys |= {_field_key(one, is_prose) for one in self._fields(form, prose=False)}
        return keys

    def _find_new_kind(
        self, text: str, known: set[tuple[str, str]], *, is_prose: bool
    ) -> SensitiveKind | None:
        """Return the kind of the first sensitive field that a text has only after decoding.

        `text` is decoded, and `known` has the keys (see `_field_key`) of the fields of the original
        text. Return None if there is no new field.
        """
        fields = list(self._fields(text, prose=False))
        if not self._guess.acts:
            return None
        new = (one.name for one in fields if _field_key(one, is_prose) not in known)
        return next((kind for name in new if (kind := self._guess.named_kind(name))), None)

    def _find_backwards_kind(self, text: str, known: set[tuple[str, str]]) -> SensitiveKind | None:
        """Return the kind of a sensitive field that appears if a short text is reversed, or None.

        A field does not count if its name is in `known`, the keys of the fields of the original
        text.
        """
        if len(text) > _LONGEST_BACKWARDS or not self._guess.acts:
            return None
        names = {name for name, _ in known}
        fields = self._fields(text[::-1], prose=False)
        new = (one for one in fields if one.name not in names)
        return next((kind for one in new if (kind := self._field_kind(one)) is not None), None)


def _decode_entity(entity: re.Match[str]) -> str:
    """Return the character that an HTML entity encodes. An ASCII character stays encoded."""
    sign = html.unescape(entity[0])
    return entity[0] if sign.isascii() else sign


def _field_key(one: Field, is_prose: bool) -> tuple[str, str]:
    """Return a key that identifies a field in a text: its name, and the text after the name.

    If `is_prose` is True, the name alone counts, because any text may follow it.
    """
    return one.name, "" if is_prose else one.behind
