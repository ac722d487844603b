"""The parts of the text that names a tool source, such as `NAME=LOCATION@URL`."""

from __future__ import annotations

import re
from pathlib import Path

from protocols.mcp import is_mcp
from protocols.sources.python import is_module
from protocols.urls import is_url

_NAMED = re.compile(r"([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_BASED = re.compile(r"(.+)@(https?://[^@]+)", re.DOTALL | re.IGNORECASE)


def parse_source(text: str) -> tuple[str, str, str | None]:
    """Return the parts of a source text such as `NAME=LOCATION@URL`: name, location and base URL.

    The name is "" and the base URL is None if the text has none.
    """
    match = _NAMED.fullmatch(text)
    name, location = (match[1], match[2]) if match else ("", text)
    based = None if is_mcp(location) else _BASED.fullmatch(location)
    return (name, based[1], based[2]) if based else (name, location, None)


def is_python_source(location: str) -> bool:
    """Return True if the location of a tool source is that of a Python module."""
    if is_mcp(location) or is_url(location):
        return False
    path = Path(location).expanduser()
    if path.is_dir() and not (location.isidentifier() and (path / "__init__.py").is_file()):
        return False
    module = location.rpartition(":")[0] or location
    return Path(module).suffix == ".py" or (is_module(module) and not path.is_file())
