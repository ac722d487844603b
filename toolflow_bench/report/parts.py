"""The templates of the report's parts, whose macros the other modules call."""

from __future__ import annotations

from typing import Any

from atc.pages.formats import interval, percent, whole
from atc.pages.templates import templates

ENVIRONMENT = templates("toolflow_bench.report")
ENVIRONMENT.filters |= {one.__name__: one for one in (interval, percent, whole)}
FIGURES: Any = ENVIRONMENT.get_template("figures.html").module
