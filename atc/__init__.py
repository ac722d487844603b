"""Let a language model act on APIs by writing one dependable program."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from atc.core.version import __version__ as __version__

# Type checkers treat a variable of this name as True. Importing `typing.TYPE_CHECKING` would take
# longer than everything else here.
TYPE_CHECKING = False
_HOME = Path(__file__).resolve().parent.parent

# These packages have common names, so Python may find another distribution of the same name first,
# or a file beside the user's script.
for _name in ("protocols", "sandbox", "probing"):
    _spec = find_spec(_name)
    _origin = _spec.origin if _spec is not None else None
    if _origin is None or Path(_origin).resolve().parent.parent != _HOME:
        raise ImportError(
            f"atc needs its own {_name!r} in {_HOME}, but Python finds {_origin!r} first; rename"
            " that file, or install"
            " atc in an environment of its own."
        )

if TYPE_CHECKING:
    from typing import Any

    from atc.agent import Agent
    from atc.core.config import Config, InvalidConfig
    from atc.core.draft import Draft
    from atc.core.events import (
        AttemptEnded,
        ConsentWaived,
        Event,
        ModelAsked,
        ModelReplied,
        NoteAdded,
        ProgramWritten,
        ToolCalled,
        ToolsChosen,
        ToolsNamed,
    )
    from atc.core.program import Program
    from atc.core.task import InvalidTask
    from atc.core.types import (
        Attempt,
        Fact,
        Fault,
        Finding,
        SkippedQuestion,
        Solution,
        Unsolved,
        Usage,
    )
    from atc.models.scripted import ScriptedModel, ScriptEnded
    from atc.run.output_type import OutputType, SchemaType, TypedSolution
    from atc.safety.questions import Question
    from atc.settings.program import load_tools
    from atc.store import RunRefused, RunStore, Store, StoreUnavailable, UnknownRun
    from protocols.client import Invoker
    from protocols.errors import (
        AtcError,
        InvalidProtocol,
        ModelUnavailable,
        SourceUnavailable,
        ToolError,
        UnknownTool,
    )
    from protocols.model import Ask, Completion, Message
    from protocols.protocol import ToolProtocol
    from protocols.settings import InvokeSettings
    from protocols.tool import Tool
    from protocols.toolbox import Toolbox
    from sandbox.base import Sandbox, SandboxUnavailable
    from sandbox.trace import ToolCall, Trace

__all__ = [
    "Agent",
    "Ask",
    "AtcError",
    "Attempt",
    "AttemptEnded",
    "Completion",
    "Config",
    "ConsentWaived",
    "Draft",
    "Event",
    "Fact",
    "Fault",
    "Finding",
    "InvalidConfig",
    "InvalidProtocol",
    "InvalidTask",
    "InvokeSettings",
    "Invoker",
    "Message",
    "ModelAsked",
    "ModelReplied",
    "ModelUnavailable",
    "NoteAdded",
    "OutputType",
    "Program",
    "ProgramWritten",
    "Question",
    "RunRefused",
    "RunStore",
    "Sandbox",
    "SandboxUnavailable",
    "SchemaType",
    "ScriptEnded",
    "ScriptedModel",
    "SkippedQuestion",
    "Solution",
    "SourceUnavailable",
    "Store",
    "StoreUnavailable",
    "Tool",
    "ToolCall",
    "ToolCalled",
    "ToolError",
    "ToolProtocol",
    "Toolbox",
    "ToolsChosen",
    "ToolsNamed",
    "Trace",
    "TypedSolution",
    "UnknownRun",
    "UnknownTool",
    "Unsolved",
    "Usage",
    "load_tools",
]  # fmt: skip
_PLACES = {
    "atc.agent": ("Agent",),
    "atc.core.config": ("Config", "InvalidConfig"),
    "atc.core.events": (
        "AttemptEnded",
        "ConsentWaived",
        "ToolCalled",
        "Event",
        "ModelAsked",
        "ModelReplied",
        "NoteAdded",
        "ProgramWritten",
        "ToolsChosen",
        "ToolsNamed",
    ),
    "atc.core.task": ("InvalidTask",),
    "atc.core.draft": ("Draft",),
    "atc.core.program": ("Program",),
    "atc.core.types": (
        "Attempt",
        "Fact",
        "Fault",
        "Finding",
        "SkippedQuestion",
        "Solution",
        "Unsolved",
        "Usage",
    ),
    "atc.models.scripted": ("ScriptEnded", "ScriptedModel"),
    "atc.run.output_type": ("OutputType", "SchemaType", "TypedSolution"),
    "atc.safety.questions": ("Question",),
    "atc.settings.program": ("load_tools",),
    "atc.store": ("RunRefused", "RunStore", "Store", "StoreUnavailable", "UnknownRun"),
    "protocols.client": ("Invoker",),
    "protocols.errors": (
        "AtcError",
        "InvalidProtocol",
        "ModelUnavailable",
        "SourceUnavailable",
        "ToolError",
        "UnknownTool",
    ),
    "protocols.model": ("Ask", "Completion", "Message"),
    "protocols.protocol": ("ToolProtocol",),
    "protocols.settings": ("InvokeSettings",),
    "protocols.toolbox": ("Tool", "Toolbox"),
    "sandbox.base": ("Sandbox", "SandboxUnavailable"),
    "sandbox.trace": ("ToolCall", "Trace"),
}
"""The public names, keyed by the module that defines them.

A module is imported when one of its names is first used.
"""


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
