"""What the writer of queries, the judge of solutions and the filter are told."""

from __future__ import annotations

from functools import partial

from protocols import prompts

fill = partial(prompts.fill, __name__)
"""The text of a prompt, see `protocols.prompts.fill`."""
