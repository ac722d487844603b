"""What each setting takes: the values that it accepts, and how one is read from a variable's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.strategies import STRATEGIES, UnknownStrategy
from atc.strategies import read as read_strategy
from sandbox.names import AUTO, NAMES, named


@dataclass(frozen=True, slots=True)
class Kind:
    """What a key takes: `read` gives the value or raises ValueError, `parse` makes a raw value of text."""

    wanted: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any] = str


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError(raw)
    return raw


def _names(raw: Any) -> tuple[str, ...]:
    return (_text(raw),) if isinstance(raw, str) else tuple(_text(item) for item in list(raw))


def _one_of(*options: str) -> Kind:
    def read(raw: Any) -> str:
        if raw not in options:
            raise ValueError(raw)
        return str(raw)

    return Kind(f"one of {', '.join(options)}", read)


def _sandbox(raw: Any) -> str:
    return _text(raw) if raw == AUTO else ",".join(named(_text(raw)))


def _yes_or_no(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise TypeError(raw)
    return raw


def _yes_or_no_of(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.strip().lower()]


def _whole(minimum: int) -> Kind:
    def read(raw: Any) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or raw < minimum:
            raise ValueError(raw)
        return raw

    return Kind(f"a whole number of at least {minimum}", read, int)


def _number(wanted: str, accept: Callable[[float], bool]) -> Kind:
    def read(raw: Any) -> float:
        if not isinstance(raw, int | float) or isinstance(raw, bool) or not accept(raw):
            raise ValueError(raw)
        return float(raw)

    return Kind(wanted, read, float)


def _method(raw: Any) -> str:
    from atc.retrieve.methods import UnknownMethod, read

    spec = _text(raw)
    try:
        if spec != AUTO:
            read(spec)
    except UnknownMethod as error:
        raise ValueError(raw) from error
    return spec


def _strategy(raw: Any) -> str:
    spec = _text(raw)
    try:
        read_strategy(spec)
    except UnknownStrategy as error:
        raise ValueError(raw) from error
    return spec


def _folder(raw: Any) -> Path:
    path = Path(_text(raw) if not isinstance(raw, Path) else raw).expanduser()
    return path.absolute()


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


KINDS: Mapping[str, Kind] = {
    "model": Kind("a model's name", _text),
    "tools": Kind("a list of tool sources", _names, _split),
    "start_servers": Kind("true or false", _yes_or_no, _yes_or_no_of),
    "trust_annotations": Kind("true or false", _yes_or_no, _yes_or_no_of),
    "lend_credentials": Kind("true or false", _yes_or_no, _yes_or_no_of),
    "learn": Kind("true or false", _yes_or_no, _yes_or_no_of),
    "strategy": Kind(f"{', '.join(STRATEGIES)}, with flags that it has (docs/strategies.md)", _strategy),
    "repair": _one_of("facts", "reflection", "traceback", "none"),
    "retrieval": Kind(f"{AUTO}, or a method of 'atc tools search'", _method),
    "embedder": Kind("an embedding model's name", _text),
    "index": Kind("a folder", _folder),
    "sandbox": Kind(f"{AUTO}, or some of {', '.join(NAMES)} with commas between them", _sandbox),
    "policy": Kind("true or false", _yes_or_no, _yes_or_no_of),
    "max_tools": _whole(1),
    "prompt_tokens": _whole(200),
    "samples": _whole(1),
    "votes": _whole(1),
    "max_repairs": _whole(0),
    "max_calls": _whole(0),
    "max_tokens": _whole(1),
    "max_model_calls": _whole(1),
    "max_seconds": _number("a number of seconds above 0", lambda n: 0 < n < float("inf")),
    "allow_writes": Kind("a list of tool names, or 'all'", _names, _split),
    "on_unknown": _one_of("stop", "retry-idempotent", "skip"),
    "settle_seconds": _number("a number of seconds from 0 on", lambda n: 0 <= n < float("inf")),
    "trust": Kind("a list of rules: tool, tool:path or value=…", _names, _split),
    "temperature": _number("a number from 0 to 2", lambda n: 0 <= n <= 2),
    "decoding": _one_of("off", "calls", "program", "auto"),
    "docs": _one_of("full", "requests", "names"),
    "state_dir": Kind("a folder", _folder),
    "cache_dir": Kind("a folder", _folder),
}
"""By the name of the setting in `atc.config.Config`."""
