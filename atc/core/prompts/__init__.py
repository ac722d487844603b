"""The prompts of the pipeline, one Markdown file each, and a function that fills in variables.

A prompt contains variables such as `$task`.
"""

from __future__ import annotations

from functools import cache, partial
from importlib.resources import files
from string import Template


def fill_from(package: str, prompt: str, /, **values: str) -> str:
    """Return the text of a prompt with each `$variable` replaced by one of `values`.

    `prompt` is the name of a file in `package`, without `.md`.

    Raises:
        KeyError: A variable has no value, or the prompt has no variable for a value. This is a
            bug of atc.
    """
    template = _read(package, prompt)
    if unused := values.keys() - set(template.get_identifiers()):
        raise KeyError(f"prompt {prompt!r} has no variable {', '.join(sorted(unused))}")
    return template.substitute(values)


fill = partial(fill_from, __name__)


@cache
def _read(package: str, prompt: str) -> Template:
    """Return the template that the file of a prompt contains."""
    return Template(files(package).joinpath(f"{prompt}.md").read_text(encoding="utf-8").strip())
