"""The effects of tools as the user declares them when loading a source (`reads`, `pure` etc.)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from protocols.effects import SAFE
from protocols.errors import UnknownTool
from protocols.naming import identifier
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol
from protocols.schema import Json
from protocols.sources.python import find_effect
from protocols.tool import Teller, Tool
from protocols.worlds import World

Which: TypeAlias = bool | Collection[str] | Callable[[ToolProtocol], bool]
"""Some tools of a source: True for all, their names, or a function that chooses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKinds:
    """The arguments of `load_tools` that declare effects of tools. For their meaning, see there.

    `is_alone` is True if there is only one source, so that True and a plain name surely mean it.
    """

    reads: Which = ()
    pure: Which = ()
    session: Which = ()
    failed: Callable[[Json], bool] | None = None
    is_alone: bool = True

    def __post_init__(self) -> None:
        """Check the values of the arguments.

        Raises:
            TypeError: one of them is of another type than `load_tools` describes.
        """
        if self.failed is not None and not callable(self.failed):
            raise TypeError(f"failed must be a function of a result, got {self.failed!r}.")
        for name in ("reads", "pure", "session"):
            value = getattr(self, name)
            if not (isinstance(value, bool | str | Collection) or callable(value)):
                raise TypeError(f"{name} must be True, names or a function, got {value!r}.")

    def annotate(self, protocol: ToolProtocol, source: str) -> ToolProtocol:
        """Return the protocol, marked as read-only if the user declares that the tool only reads.

        Tools that are declared as `pure` or `session` are marked, too. `source` is the name of the
        tool's source.
        """
        if not self._declarations(protocol, source):
            return protocol
        hints = replace(protocol.annotations, read_only=True, destructive=False)
        return replace(protocol, annotations=hints)

    def mark(
        self,
        tool: Tool,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        *,
        session: World | None = None,
    ) -> Tool:
        """Return a tool with the effect that the user declares for it.

        `functions` are Python functions of the source, keyed by `module:function`. The user may
        have marked them, too. `session` is the state behind the session tools of the source.

        Raises:
            ValueError: a name without its source, or True, would declare that a tool only reads,
                although the document of another source, which was fetched, says that it writes.
        """
        binding = tool.protocol.binding
        function = None
        if isinstance(binding, PythonBinding):
            function = (functions or {}).get(f"{binding.module}:{binding.function}")
        effect = tool.effect if function is None else find_effect(function)
        failed = self.failed or tool.failed or getattr(function, "failed", None)
        declared = self._declarations(tool.protocol, tool.source)
        if declared and not self.is_alone and not any(_is_exact(one, tool) for one in declared):
            _require_safe(tool)
        if _has(self.session, tool.protocol, tool.source):
            effect = "session"
        elif _has(self.pure, tool.protocol, tool.source):
            effect = "pure"
        return replace(
            tool,
            protocol=self.annotate(tool.protocol, tool.source),
            effect=effect,
            failed=failed,
            told_by="user" if declared else tool.told_by,
            world=session if effect == "session" else None,
        )

    def _declarations(self, protocol: ToolProtocol, source: str) -> list[Which]:
        """Return those of `reads`, `pure` and `session` that contain a tool of a source."""
        every = (self.reads, self.pure, self.session)
        return [which for which in every if _has(which, protocol, source)]

    def require_names(self, tools: Sequence[Tool]) -> None:
        """Check that each name in the user's declarations is the name of exactly one tool.

        Raises:
            UnknownTool: a name is not that of a tool.
            ValueError: several tools have the name.
        """
        for which in (self.reads, self.pure, self.session):
            for name in _listed(which):
                found = [
                    tool.qualified
                    for tool in tools
                    if name in _names_of(tool.protocol, tool.source)
                ]
                if not found:
                    raise UnknownTool(
                        name,
                        [one for tool in tools for one in _names_of(tool.protocol, tool.source)],
                    )
                if len(found) > 1:
                    raise ValueError(
                        f"{len(found)} tools are named {name!r}; write {' or '.join(found)}."
                    )


def find_teller(kind: str, *, fetched: bool) -> Teller:
    """Return who says what the tools of a source do, see `Tool.told_by`.

    `kind` is the kind of the source, and `fetched` is True if it was fetched from an address.
    """
    if fetched:
        return "address"
    return "user" if kind in ("python", "protocols") else "document"


def _require_safe(tool: Tool) -> None:
    """Check that no fetched document says that the tool writes.

    Raises:
        ValueError: one does.
    """
    binding = tool.protocol.binding
    if tool.told_by != "address" or not isinstance(binding, HttpBinding) or binding.method in SAFE:
        return
    raise ValueError(
        f"{tool.qualified!r} would count as a tool that only reads, although its document, which"
        f" comes from an address, says {binding.method}. If this is meant, write"
        f" {tool.qualified!r} among the names of reads, pure or session; otherwise, declare the"
        " tools that are meant as 'SOURCE/NAME'."
    )


def _names_of(protocol: ToolProtocol, source: str) -> set[str]:
    """Return the names by which the user's declarations may refer to a tool."""
    return {protocol.name, identifier(protocol.name), f"{source}/{protocol.name}"}


def _is_exact(which: Which, tool: Tool) -> bool:
    """Return True if the user surely means this tool: by its source and name, or by a function."""
    return callable(which) or tool.qualified in _listed(which)


def _listed(which: Which) -> Collection[str]:
    """Return the names in `which`. A single name is a text."""
    if isinstance(which, str):
        return (which,)
    return () if isinstance(which, bool) or callable(which) else which


def _has(which: Which, protocol: ToolProtocol, source: str) -> bool:
    """Return True if `which` contains the tool of a source with this description."""
    if isinstance(which, bool):
        return which
    if callable(which):
        return which(protocol)
    return not _names_of(protocol, source).isdisjoint(_listed(which))
