"""What the models of a search are told, one Markdown file a prompt, named by the method that it is of."""

from __future__ import annotations

from functools import partial

from atc.core.prompts import fill_from

fill = partial(fill_from, __name__)
