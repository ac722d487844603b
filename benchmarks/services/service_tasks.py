"""The tasks of the suite: questions about a service, with programs that were written beforehand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("tasks")
_BUILTINS = ("pages", "with_headers")
"""Functions that every program has only if the prompt says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTask:
    """A question about a service.

    `programs` has the programs that a strong model might write, by their style: `plain` (the
    obvious way), `loop` (asks for page after page by an argument), `pages` and `headers` (use the
    functions of these names that `atc` gives to programs).
    """

    id: str
    question: str
    programs: Mapping[str, str]


def load_service_tasks(service: str) -> list[ServiceTask]:
    """Return the tasks of a service, in the order of the file. Tasks that write come last."""
    text = (FOLDER / f"{service}.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.safe_load(text)
    return [ServiceTask(**row) for row in rows]


def missing_builtins(program: str, prompt: str) -> list[str]:
    """Return the functions that the program calls and that the prompt does not mention."""
    called = [name for name in _BUILTINS if re.search(rf"\b{name}\(", program)]
    return [name for name in called if f"{name}(" not in prompt]
