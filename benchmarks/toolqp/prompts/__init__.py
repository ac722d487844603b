"""What ToolQP's teacher is asked, one Markdown file a prompt."""

from __future__ import annotations

from functools import partial

from atc import prompt_files as prompts

fill = partial(prompts.fill, __name__)
