"""The prompts of the pipeline: one Markdown file each, and how their variables are filled."""

from __future__ import annotations

from functools import cache, partial
from importlib.resources import files
from string import Template


def fill_from(package: str, prompt: str, /, **values: str) -> str:
    """The text of `prompt` (a file's name without `.md`) in `package`, with each `$variable`
    replaced.

    Raises:
        KeyError: a variable of the prompt is missing, or a value has no variable: a mistake in our
            code.
    """
    template = _read(package, prompt)
    if unused := values.keys() - set(template.get_identifiers()):
        raise KeyError(f"prompt {prompt!r} has no variable {', '.join(sorted(unused))}")
    return template.substitute(values)


fill = partial(fill_from, __name__)


@cache
def _read(package: str, prompt: str) -> Template:
    return Template(files(package).joinpath(f"{prompt}.md").read_text(encoding="utf-8").strip())
