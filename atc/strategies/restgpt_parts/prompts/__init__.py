"""The prompts of RestGPT's planner, API selector, caller and parser, in our words."""

from __future__ import annotations

from functools import partial

from protocols import prompts

fill = partial(prompts.fill, __name__)
"""The text of a prompt, see `protocols.prompts.fill`."""
