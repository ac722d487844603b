"""The effects of tools as the user declares them when loading a source (`reads`, `pure` etc.)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from protocols.errors import UnknownTool
from protocols.naming import identifier
from protocols.protocol import PythonBinding, ToolProtocol
from protocols.schema import Json
from protocols.sources.python import find_effect
from protocols.tool import Tool
from protocols.worlds import World

Which: TypeAlias = bool | Collection[str] | Callable[[ToolProtocol], bool]
"""Some tools of a source: True for all, their names, or a function that chooses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKinds:
    """The arguments of `load_tools` that declare effects of tools. For their meaning, see there."""

    reads: Which = ()
    pure: Which = ()
    session: Which = ()
    failed: Callable[[Json], bool] | None = None

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

    def annotate(self, protocol: ToolProtocol) -> ToolProtocol:
        """Return the protocol, marked as read-only if the user declares that the tool only reads.

        Tools that are declared as `pure` or `session` are marked, too.
        """
        if not any(_has(which, protocol) for which in (self.reads, self.pure, self.session)):
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
        """
        binding = tool.protocol.binding
        function = None
        if isinstance(binding, PythonBinding):
            function = (functions or {}).get(f"{binding.module}:{binding.function}")
        effect = tool.effect if function is None else find_effect(function)
        failed = self.failed or tool.failed or getattr(function, "failed", None)
        if _has(self.session, tool.protocol):
            effect = "session"
        elif _has(self.pure, tool.protocol):
            effect = "pure"
        world = session if effect == "session" else None
        protocol = self.annotate(tool.protocol)
        return replace(tool, protocol=protocol, effect=effect, failed=failed, world=world)

    def require_names(self, tools: Iterable[Tool]) -> None:
        """Check that each name in the user's declarations is the name of a tool.

        Raises:
            UnknownTool: a name is not that of a tool.
        """
        known = [name for tool in tools for name in (tool.protocol.name, *_names(tool.protocol))]
        for which in (self.reads, self.pure, self.session):
            for name in _listed(which):
                if name not in known:
                    raise UnknownTool(name, known)


def _names(protocol: ToolProtocol) -> tuple[str, str]:
    return protocol.name, identifier(protocol.name)


def _listed(which: Which) -> Collection[str]:
    """Return the names in `which`. A single name is a text."""
    if isinstance(which, str):
        return (which,)
    return () if isinstance(which, bool) or callable(which) else which


def _has(which: Which, protocol: ToolProtocol) -> bool:
    """Return True if `which` contains the tool with this description."""
    if isinstance(which, bool):
        return which
    if callable(which):
        return which(protocol)
    return not set(_listed(which)).isdisjoint(_names(protocol))
