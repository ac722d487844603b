"""The Jinja templates of the report. Other modules call the macros of these templates."""

from __future__ import annotations

from typing import Any

from atc.core.pages.formats import interval, percent, whole
from atc.core.pages.templates import load_templates

_LONGEST_NAME = 30  # letters; the table of runs has the whole name


def abbreviated(name: str) -> str:
    """Return a run's name, shortened so that it fits into a drawing."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


ENVIRONMENT = load_templates("toolflow_bench.report")
ENVIRONMENT.filters |= {one.__name__: one for one in (abbreviated, interval, percent, whole)}
FIGURES: Any = ENVIRONMENT.get_template("figures.html").module
