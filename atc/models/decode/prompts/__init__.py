"""The prompts that ask for one call of a tool."""

from __future__ import annotations

from functools import partial

from atc.core.prompts import fill_from

fill = partial(fill_from, __name__)
