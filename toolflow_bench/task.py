"""A question with its right answer, and how files of them (JSON Lines) are read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from protocols.errors import AtcError
from protocols.jsontypes import Json

AnswerType = Literal["number", "text", "set", "list", "none", "state"]
"""`none`: the honest answer is that there is none. `state`: what the run's writes must have left, whatever it says."""

Split = Literal["long", "short"]
"""`long`: at least 7 calls. `short`: 1 to 6."""


class InvalidTask(AtcError):
    """A file of questions that cannot be used: names the file, the line and what is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as a person asks it, and its answer as `toolflow_bench.grade` compares it."""

    id: str
    question: str
    answer: Json
    """A number, a text, or a list of them (for `set` and `list`)."""
    type: AnswerType
    tolerance: float = 0.0
    """How far a number may be off, absolutely."""
    accept: tuple[str, ...] = ()
    """Other spellings of the answer."""
    calls: int = 1
    """Tool calls that the shortest program needs."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Fields that nothing here reads, as they came."""


def load_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a JSON Lines file, in its order. Blank lines are skipped.

    Raises:
        InvalidTask: the file is missing or not text, or a line is not a question.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidTask(f"cannot read the questions in {str(path)!r}: {error.strerror}; give the file's path.") from (
            error
        )
    except UnicodeDecodeError as error:
        raise InvalidTask(f"{str(path)!r} is not UTF-8 text; a file of questions has one JSON object a line.") from (
            error
        )
    questions: dict[str, Question] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        question = read_question(_object(line, where), where=where)
        if question.id in questions:
            raise InvalidTask(f"{where}: the id {question.id!r} stands twice; give each question its own.")
        questions[question.id] = question
    if not questions:
        raise InvalidTask(f"{str(path)!r} has no question in it; it needs one JSON object a line.")
    return tuple(questions.values())


def read_question(document: Mapping[str, Json], *, where: str) -> Question:
    """The question of one JSON object; `where` names it in messages.

    Raises:
        InvalidTask: a field is missing, unknown but nearly a known one, or of the wrong type.
    """
    known = {key: document[key] for key in _FIELDS if key in document}
    for key in document:
        if key not in _FIELDS and (near := get_close_matches(key, _FIELDS, n=1, cutoff=0.8)):
            raise InvalidTask(f"{where}: unknown field {key!r}; did you mean {near[0]!r}?")
    for key in ("id", "question", "answer", "type"):
        if key not in known:
            raise InvalidTask(f"{where}: the field {key!r} is missing; a question needs id, question, answer and type.")
    for key, value in known.items():
        wanted, fits = _FIELDS[key]
        if not fits(value):
            raise InvalidTask(f"{where}: {key!r} must be {wanted}, got {value!r}.")
    wanted, fits = _ANSWERS[known["type"]]
    if not fits(known["answer"]):
        raise InvalidTask(f"{where}: the 'answer' of type {known['type']!r} must be {wanted}, got {known['answer']!r}.")
    extra = {key: value for key, value in document.items() if key not in _FIELDS}
    return Question(**{**known, "accept": tuple(known.get("accept", ()))}, extra=extra)


def _object(line: str, where: str) -> Mapping[str, Json]:
    try:
        document = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidTask(f"{where}: not JSON ({error}); a question is one JSON object on one line.") from error
    if not isinstance(document, dict):
        raise InvalidTask(f"{where}: must be a JSON object, got {line.strip()[:40]!r}.")
    return document


def _is_text(value: Any) -> bool:
    """A text with at least one letter or digit: punctuation is not compared, so it cannot be an answer."""
    return isinstance(value, str) and any(character.isalnum() for character in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_items(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(v) or _is_number(v) or (_is_items(v) and v) for v in value)


_Check = tuple[str, Callable[[Any], bool]]
_FIELDS: Mapping[str, _Check] = {
    "id": ("a text", _is_text),
    "question": ("a text", _is_text),
    "answer": ("an answer", lambda value: value is not None),
    "type": (f"one of {', '.join(get_args(AnswerType))}", lambda value: value in get_args(AnswerType)),
    "tolerance": ("a number of at least 0", lambda value: _is_number(value) and value >= 0),
    "accept": ("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "calls": ("a whole number of at least 1", lambda value: isinstance(value, int) and value is not True and value > 0),
}
_ANSWERS: Mapping[str, _Check] = {
    "number": ("a number", _is_number),
    "text": ("a text", _is_text),
    "set": ("a list of texts and numbers", _is_items),
    "list": ("a list of texts and numbers", _is_items),
}
