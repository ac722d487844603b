"""What a task gives: the literals that an argument which some tool yields may be written with (`atc.grounding`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from atc.decode.arguments import value_grammar
from atc.decode.grammar import Pattern
from atc.decode.program.nodes import Part, any_of, literally, pattern, row, times
from atc.decode.program.places import quoted_value
from atc.grounding import is_common, is_measure, is_opaque, words_of
from atc.regex import PatternError, found, sought
from protocols.schema import validator
from protocols.vocabulary import VAGUE
from protocols.words import singular, snake

_MOST_PHRASE = 4
_MOST_WORDS = 60
_MOST_LITERALS = 240
"""Of one argument."""
_SMALL = 100
_DATES = ("2013-07-04", "2013-07", "2013-07-04T08:30:00Z", "2013-07-04T08:30:00", "2013-07-04 08:30:00", "07/04/2013")
_NO_DATES = ("BOS", "a", "x1", "12", "abcde", "1234567890", "a-b")
_DATE_FORMATS = ("date", "date-time", "time", "duration")
_DATE_NAMES = re.compile(r"(^|_)(date|datetime|day|month|time|since|until)$", re.IGNORECASE)
_ID_NAMES = re.compile(r"(^|_)(id|ids|key|code|number|no|num|ref|reference|uuid)$|[a-z]I[dD]s?$", re.IGNORECASE)
_DATE = r"[0-9]{4}-[01][0-9](?:-[0-3][0-9])?"
_NO_DIGITS = "[^0-9]*"
_NO_SMALL = "[^a-z]*"
_DEFINITIONS = ("$defs", "definitions", "components")


class Given:
    """The words and numbers of a task; nothing is made up where the task is empty, for then nobody knows."""

    def __init__(self, task: str) -> None:
        self.known = bool(task)
        self._task = task.casefold()
        self._words = words_of(task)
        self._phrases = _phrases(task)
        self._capitals = [phrase.upper() for phrase in self._phrases if " " not in phrase and phrase[:1].isupper()]
        self._numbers = [int(word) for word in sorted(self._words) if re.fullmatch("[0-9]{1,15}", word)]
        self._fractions = [float(text) for text in re.findall(r"(?<![\w.])[0-9]{1,9}\.[0-9]{1,6}(?![\w.])", task)]
        self._found: dict[str, list[Any]] = {}

    def holds(self, value: Any) -> bool:
        """Whether a constant stands in the task, or says too little to be made up."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            return True
        return str(value).casefold() in self._words or value in self._phrases

    def literal(self, argument: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Part:
        """What an argument of this name and schema may be written as; nothing where the task has nothing that conforms.

        Sound: each value conforms to the schema, and `made_up` finds none of them.
        """
        conforming = self.values(argument, schema, root)
        items = schema.get("items")
        several: Part = None
        if isinstance(items, Mapping) and schema.get("type") == "array":
            item = pattern(any_of(map(_written, self.values(argument, items, root))))
            fewest, most = schema.get("minItems", 0), schema.get("maxItems", 5)
            if isinstance(fewest, int) and isinstance(most, int) and not schema.get("uniqueItems"):
                several = row("[", item, times(row(", ", item), max(0, fewest - 1), max(0, min(most, 5) - 1)), "]")
        return several or pattern(any_of(map(_written, conforming)))

    def values(self, argument: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
        """The words and numbers of the task, and small numbers where no id is wanted, that conform to a schema."""
        listed = schema.get("enum")
        if isinstance(listed, list | tuple):
            return [v for v in listed if isinstance(v, str | int) and (is_common(v) or self.holds(v))]
        is_id = _ID_NAMES.search(argument) is not None
        key = f"{argument if is_id else ''} {schema!r}"
        if key not in self._found:
            small = [] if is_id else range(_SMALL)
            numbers = [n for n in self._numbers if n >= _SMALL or not is_id or self._is_named(n, argument)]
            phrases = [*self._phrases, *(() if is_id or "pattern" in schema else self._capitals)]
            if is_id and "pattern" not in schema:
                phrases = [phrase for phrase in phrases if _is_code(phrase) or self._is_named(phrase, argument)]
            values = [*numbers, *phrases, *self._fractions, True, False, None, *small]
            values = [v for v in values if _fits_type(v, schema)]
            try:
                checks = validator({**{k: root[k] for k in _DEFINITIONS if k in root}, **schema})
            except ValueError:
                return []
            self._found[key] = [value for value in values if checks.is_valid(value)][:_MOST_LITERALS]
        return self._found[key]

    def _is_named(self, value: int | str, argument: str) -> bool:
        """Whether a small number or a word may be an id: "season 2" for `season_number`, but not "the top 3 films"."""
        nouns = set(snake(argument).split("_")) - VAGUE
        before = re.findall(rf"(\w+)[ .:]*([#\"'`]?){re.escape(str(value).casefold())}\b", self._task)
        return any(sign or singular(word) in nouns | VAGUE for word, sign in before)


def _is_code(phrase: str) -> bool:
    """Whether a word looks like a code or an id rather than like a word: `JFK`, `ab12`, `main_street`, `p-4`."""
    return bool(re.search(r"\d|\w[_-]\w", phrase)) or (phrase.isupper() and len(phrase) > 1)


def _fits_type(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a schema that names its type names this one's: it spares the validator most values."""
    named = schema.get("type")
    match value:
        case bool() | None:
            return named is not None
        case str():
            return named not in ("integer", "number", "boolean")
        case _:
            return named not in ("string", "boolean")


def _written(value: Any) -> str:
    return quoted_value(value) if isinstance(value, str) else literally(repr(value))


def _phrases(task: str) -> dict[str, None]:
    """Words of the task, and up to four in a row where the first has a capital or a digit, as a name or a code does.

    A word with a digit stands in capitals too, as codes are written.
    """
    words = [word.rstrip(".:") for word in re.findall(r"[^\s\"'`\\{}()\[\],;!?]+", task)[:_MOST_WORDS]]
    words = [word for word in words if word and word.isprintable()]
    found: dict[str, None] = {}
    for start, word in enumerate(words):
        named = word != word.lower() or word[0].isdigit()
        for length in range(1, _MOST_PHRASE + 1 if named else 2):
            found[" ".join(words[start : start + length])] = None
        if any(map(str.isdigit, word)):
            found[word.upper()] = None
    return found


def codes(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Part:
    """Codes without digits, of a form that the schema gives: the model may know that Boston is `BOS`.

    `atc.grounding` minds them as little: a task says names where a tool takes codes. Nobody knows an opaque id.
    """
    if not isinstance(schema.get("pattern"), str) or "enum" in schema:
        return None
    also: tuple[str, ...] = (_NO_DIGITS,)
    try:
        wanted = [sought(schema["pattern"]), sought(f"^{_NO_DIGITS}$")]
        small = found([*wanted, sought("[a-z]")])
        if small is not None and is_opaque(small, schema):
            also = (_NO_DIGITS, _NO_SMALL)
            wanted.append(sought(f"^{_NO_SMALL}$"))
        code = found(wanted)
    except PatternError:
        return None
    if code is None or is_opaque(code, schema):
        return None
    start = value_grammar(schema, root, "python").start
    return replace(start, also=(*start.also, *also)) if isinstance(start, Pattern) else None


@lru_cache(maxsize=1024)
def of_ids(*patterns: str) -> bool:
    """Whether what matches all these patterns is an id that nobody knows by heart."""
    try:
        shared = found([sought(one) for one in patterns])
    except (PatternError, RecursionError):
        return False
    return shared is not None and all(is_opaque(shared, {"pattern": one}) for one in patterns)


def is_free(argument: str, schema: Mapping[str, Any], types: frozenset[str]) -> bool:
    """Whether anybody may choose the value of an argument: a date, which a task may spell otherwise, a measure, a flag.

    A task that says "4 July" means `2013-07-04`: `atc.grounding` does not mind it either.
    """
    if types <= {"boolean", "null", "object"} and types:
        return True
    if types <= {"integer", "number", "null"} and types:
        most = schema.get("maximum")
        return is_measure(argument) or (isinstance(most, int) and most < _SMALL)
    return _is_date(schema)


def _is_date(schema: Mapping[str, Any]) -> bool:
    if schema.get("format") in _DATE_FORMATS:
        return True
    try:
        checks = validator({"pattern": schema["pattern"]}) if isinstance(schema.get("pattern"), str) else None
    except ValueError:
        return False
    return checks is not None and any(map(checks.is_valid, _DATES)) and not any(map(checks.is_valid, _NO_DATES))


def dates(argument: str, schema: Mapping[str, Any]) -> Part:
    """Dates, for a text of any form whose name says that it is one."""
    plain = schema.get("type") == "string" and not schema.keys() & {"pattern", "enum", "const", "maxLength"}
    return Pattern(rf'"{_DATE}"') if plain and _DATE_NAMES.search(argument) else None
