"""Prompts of the search methods: one Markdown file each, whose name begins with the method it
belongs to.
"""

from __future__ import annotations

from functools import partial

from atc.core.prompts import fill_from

fill = partial(fill_from, __name__)
