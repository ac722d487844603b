"""Reads what the suites ask, and draws a sample of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from protocols.errors import AtcError
from toolflow_bench.decoding.frame import Case, text_digest

_Case = TypeVar("_Case", bound=Case)


class InvalidDecodingData(AtcError):
    """A file of questions that cannot be used: which, what is wrong where, and what is expected."""


def read_json(path: Path, *, expected: str) -> Any:
    """The content of a JSON file; `expected` says what it should hold.

    Raises:
        InvalidDecodingData: it is missing, cannot be read, or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidDecodingData(
            f"cannot read {str(path)!r}: {error.strerror}; give --data the folder with {expected}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidDecodingData(f"{str(path)!r} is not JSON ({error}); it should hold {expected}.") from error


def draw(cases: Sequence[_Case], count: int | None, *, seed: int) -> list[_Case]:
    """`count` of the cases (None: all) in their order, drawn by seed and ids alone."""
    order = sorted(case.id for case in cases)
    random.Random(f"{seed} decoding").shuffle(order)  # noqa: S311 - a sample, not secrecy
    drawn = set(order[:count])
    return [case for case in cases if case.id in drawn]


def digest(cases: Sequence[Case], more: Any = None) -> str:
    """A short text that changes when a question, its answer or `more` does."""
    return text_digest([[[c.id, c.question, c.expected, list(c.gold)] for c in cases], more])
