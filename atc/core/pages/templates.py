"""Jinja templates of HTML pages, which escape all text automatically."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from atc.core.pages.formats import dollars, seconds, size
from atc.core.pages.markup import escape_text
from atc.core.quoting import quoted
from atc.core.text import clipped, count
from protocols.schema import Json


def load_templates(package: str) -> Environment:
    """Return the Jinja environment for the templates in the folder of `package`.

    The templates may include those of `atc.core.pages`.
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("atc.core.pages", ".")]),
        autoescape=True,
        finalize=_escape_if_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (clipped, dollars, quoted, seconds, size, format_json):
        templates.filters[function.__name__] = function
    templates.filters["counted"] = count
    return templates


def format_json(value: Json, *, indent: int | None = None) -> str:
    """Return a JSON value as text; a string is returned without quotes."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=repr, indent=indent)


def _escape_if_text(value: Any) -> Any:
    """Escape a value that a template inserts, if it is a text; return any other value unchanged."""
    return escape_text(value) if isinstance(value, str) else value
