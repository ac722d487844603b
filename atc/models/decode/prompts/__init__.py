"""Prompts that ask for one tool call."""

from __future__ import annotations

from functools import partial

from atc.core.prompts import fill_from

fill = partial(fill_from, __name__)
