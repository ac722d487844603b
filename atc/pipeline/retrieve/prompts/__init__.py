"""Prompts of the search methods: Markdown files whose names begin with the name of the method."""

from __future__ import annotations

from functools import partial

from atc.core.prompts import fill_from

fill = partial(fill_from, __name__)
