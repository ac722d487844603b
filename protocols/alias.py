"""Aliases: the valid Python identifiers under which programs know tools and their arguments."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

_RESERVED_TOOL_NAMES = frozenset(dir(builtins)) | {"ToolError", "asyncio", "json", "math", "re"}


def identifier(name: str) -> str:
    """The identifier nearest to `name`: `read-file` → `read_file`, `from` → `from_`, `2fa` → `_2fa`.

    A name with nothing to keep becomes `unnamed`.

    Letters are folded to their compatibility form as Python itself folds them, so two aliases that look alike to the
    interpreter are alike here too. No name becomes a dunder or a soft or hard keyword.
    """
    folded = unicodedata.normalize("NFKC", name)
    kept = re.sub(r"\W+", "_", folded)
    if not (kept.isascii() or kept.isidentifier() or ("_" + kept).isidentifier()):
        kept = re.sub(r"[^0-9A-Za-z_]+", "_", kept)
    if kept.startswith("__"):  # Python mangles or reserves these
        kept = "_" + kept.lstrip("_")
    kept = kept.rstrip("_") or "unnamed"
    if kept[0].isdigit() or not kept.isidentifier():
        kept = "_" + kept
    return kept + "_" if keyword.iskeyword(kept) or keyword.issoftkeyword(kept) else kept


def argument_aliases(names: Sequence[str]) -> dict[str, str]:
    """Alias → argument name, in the order of `names`, unique within one tool."""
    chosen = _assign([(name, "") for name in names], reserved=())
    return dict(zip(chosen, names, strict=True))


def tool_aliases(tools: Sequence[tuple[str, str]]) -> list[str]:
    """One alias for each `(tool name, source name)`, unique in the toolbox, the same for the same tools in any order.

    A name whose identifier nobody else wants, and that shadows no builtin, is that identifier. The others take their
    source's name as prefix; those that still clash are numbered in the order of their original names.
    """
    return _assign(tools, reserved=_RESERVED_TOOL_NAMES)


class FreeNames:
    """Gives out names, each once: `free("page")` is `page`, then `page_2`. Quick also where all want the same one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._numbers = dict.fromkeys(taken, 1)  # names, each with the number that was last tried after it

    def __call__(self, base: str) -> str:
        """`base`, numbered where it is taken; it is taken from now on."""
        name = base
        while name in self._numbers:
            self._numbers[base] += 1
            name = f"{base}_{self._numbers[base]}"
        self._numbers[name] = 1
        return name


def _assign(names: Sequence[tuple[str, str]], *, reserved: Iterable[str]) -> list[str]:
    plain = [identifier(name) for name, _ in names]
    prefixed = [identifier(f"{source}_{name}") if source else identifier(name) for name, source in names]
    result: dict[int, str] = {}
    taken = set(reserved)
    for wanted in (plain, prefixed):
        left = [(i, alias) for i, alias in enumerate(wanted) if i not in result]
        claims = Counter(alias for _, alias in left)
        result |= {i: alias for i, alias in left if claims[alias] == 1 and alias not in taken}
        taken.update(result.values())
    free = FreeNames([*taken, *prefixed])
    for i in sorted({*range(len(names))} - result.keys(), key=lambda i: (names[i], i)):
        result[i] = free(prefixed[i])
    return [result[i] for i in range(len(names))]
