"""The prompts of the pipeline."""

from __future__ import annotations

from functools import partial

from atc import prompt_files as prompts

fill = partial(prompts.fill, __name__)
"""The text of a prompt, see `atc.prompt_files.fill`."""
