"""Which values may fill a sensitive argument unasked. Everything not known to be clean asks.

Nothing is followed through a program: a value is clean for what it is and where it stands, so that no transformation
launders it. docs/security.md says what that sees and what it does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from atc.attribute.paths import KEY, Path, text
from atc.taint.documents import Documents
from atc.taint.leaves import Leaf, sensitive_leaves
from atc.taint.literals import Same, literals, same
from atc.taint.origin import Origins
from atc.taint.shown import host_of, shown
from atc.taint.task import Words
from atc.taint.trusted import Trusted
from protocols.jsontypes import Json, JsonObject
from protocols.marks import Sensitivity, is_email
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

__all__ = ["Taint", "Tainted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tainted:
    """A value of a sensitive argument that is not known to be clean."""

    argument: str
    """The argument's own name."""
    path: Path
    """Steps to the value within the argument; empty where it is the whole."""
    value: Json
    kind: Sensitivity
    origin: str
    """Where it came from, as part of a sentence."""
    rules: tuple[str, ...]
    """What `--trust` would have to be given to let it pass, the narrowest first, quoted for a shell."""

    @property
    def place(self) -> str:
        """The argument and the place in it: `message.to[0]`."""
        named = self.path[:-1] if self.path[-1:] == (KEY,) else self.path
        return text((self.argument, *named)) + (" (a key)" if named != self.path else "")

    def __str__(self) -> str:
        """Which argument, what it is, where it came from: a sentence that is safe to be shown."""
        host = host_of(self.value) if self.kind == "url" and isinstance(self.value, str) else None
        leads = f", which leads to {shown(host)}," if host else ""
        return f"argument {shown(self.place)} = {shown(self.value)}{leads} is not known to come from you: {self.origin}"


class Taint:
    """What one run knows about its values.

    `calls` gives the completed calls of the run. A value is clean where it stands in the task as a whole, is named by
    a rule, was agreed to before for the same argument, is a literal (or a part of a text that is one) of a program that
    was written before any tool output had been seen (and does not come from the tools' documents), or equals what a
    rule trusts in a response.
    """

    def __init__(self, task: str, *, rules: Iterable[str], calls: Callable[[], Sequence[ToolCall]]) -> None:
        self._task, self._words = task, Words(task)
        self._trusted = Trusted(rules)
        self._calls = calls
        self._tools, self._documents = Toolbox(), Documents(Toolbox())
        self._blind: frozenset[Same] = frozenset()
        self._later: frozenset[Same] = frozenset()
        self._agreed: set[tuple[str, str, Same]] = set()

    def over(self, tools: Toolbox) -> None:
        """Work with these tools: their documents may be where a literal comes from.

        Raises:
            InvalidConfig: a rule may mean more than one of them.
        """
        self._trusted.over(tools)
        self._tools, self._documents = tools, Documents(tools)

    def wrote(self, source: str, *, blind: bool) -> None:
        """A program is about to run. `blind`: whoever wrote it had seen no tool output."""
        found = literals(source, self._tools)
        if blind:
            self._blind |= found
        else:
            self._later |= found

    def of(self, tool: Tool, arguments: JsonObject) -> tuple[Tainted, ...]:
        """The values of a call that ask; `arguments` by original name."""
        leaves = [leaf for leaf in sensitive_leaves(tool.protocol, arguments) if not self._is_clean(tool, leaf)]
        if not leaves:
            return ()
        origins = Origins(self._calls(), self._later, self._tools)
        return tuple(self._tainted(leaf, origins) for leaf in leaves)

    def agree(self, tool: Tool, tainted: Iterable[Tainted]) -> None:
        """A person has agreed to these values for these arguments; they are not asked about again."""
        self._agreed |= {(tool.alias, one.argument, same(one.value)) for one in tainted}

    def _is_clean(self, tool: Tool, leaf: Leaf) -> bool:
        value = leaf.value
        if (tool.alias, leaf.argument, same(value)) in self._agreed:
            return True
        if self._trusted.name(value) or self._words.hold(value, leaf.kind):
            return True
        if self._written(leaf) and self._documents.source(value, leaf.kind, self._task) is None:
            return True
        if self._trusted.gave(value, self._calls):
            return True
        parts = _addresses(leaf)
        return bool(parts) and all(self._is_clean(tool, replace(leaf, value=one)) for one in parts)

    def _written(self, leaf: Leaf) -> bool:
        """Whether a blind program wrote it out, or the whole text of the argument that holds it."""
        return same(leaf.value) in self._blind or (leaf.within is not None and same(leaf.within) in self._blind)

    def _tainted(self, leaf: Leaf, origins: Origins) -> Tainted:
        document = self._documents.source(leaf.value, leaf.kind, self._task) if self._written(leaf) else None
        sentence, rules = origins.of(leaf.value, document)
        return Tainted(
            argument=leaf.argument, path=leaf.path, value=leaf.value, kind=leaf.kind, origin=sentence, rules=rules
        )


def _addresses(leaf: Leaf) -> list[str]:
    """The e-mail addresses of a list that is one text, where it is nothing but that."""
    if leaf.kind != "recipient" or not isinstance(leaf.value, str):
        return []
    parts = re.split(r"[,;] *", leaf.value)
    return parts if len(parts) > 1 and all(map(is_email, parts)) else []
