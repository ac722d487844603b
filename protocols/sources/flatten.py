"""Flattens nested lists of tool sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from reprlib import repr as shortened
from typing import Any

from protocols.errors import SourceUnavailable
from protocols.toolbox import Toolbox


def flat_sources(sources: Iterable[Any]) -> list[str | Callable[..., Any]]:
    """Return all sources, including those in lists, without duplicates. Paths become text.

    Raises:
        SourceUnavailable: one of them is neither a text, a path, a function nor an iterable.
    """
    return list(dict.fromkeys(_each_source(sources)))


def _each_source(sources: Iterable[Any]) -> Iterator[str | Callable[..., Any]]:
    for source in sources:
        if isinstance(source, os.PathLike):
            yield os.fspath(source)
        elif isinstance(source, str) or callable(source):
            yield source
        elif isinstance(source, Toolbox):
            raise SourceUnavailable(
                "a toolbox is no source among others; add it instead: load_tools(…) + toolbox."
            )
        elif isinstance(source, Mapping):
            raise SourceUnavailable(
                "a mapping is no tool source; write the document into a file and give its path."
            )
        elif isinstance(source, Iterable) and not isinstance(source, bytes):
            yield from _each_source(source)
        else:
            raise SourceUnavailable(
                f"{shortened(source)} is no tool source;"
                " give text, paths, functions or lists of them."
            )
