"""What the writer, the judge and the filter of AnyToolBench are told, one Markdown file a prompt."""

from __future__ import annotations

from functools import partial

from atc import prompt_files as prompts

fill = partial(prompts.fill, __name__)
