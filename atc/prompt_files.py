"""Prompts: one Markdown file each, in a package of prompts, and how their variables are filled."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


def fill(package: str, prompt: str, /, **values: str) -> str:
    """The text of `prompt` (a file's name without `.md`) in `package`, with each `$variable` replaced.

    Raises:
        KeyError: a variable of the prompt is missing, or a value has no variable: a mistake in our code.
    """
    template = _read(package, prompt)
    unused = values.keys() - set(template.get_identifiers())
    if unused:
        raise KeyError(f"prompt {prompt!r} has no variable {', '.join(sorted(unused))}")
    return template.substitute(values)


@cache
def _read(package: str, prompt: str) -> Template:
    return Template(files(package).joinpath(f"{prompt}.md").read_text(encoding="utf-8").strip())
