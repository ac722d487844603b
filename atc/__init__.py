"""Let a language model act on APIs by writing one dependable program."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atc.core.version import __version__ as __version__

_HOME = Path(__file__).resolve().parent.parent

# Our floors have everyday names: another distribution, or a file beside the user's script, may come first on the path.
for _name in ("protocols", "sandbox", "probing"):
    _spec = find_spec(_name)
    _origin = _spec.origin if _spec is not None else None
    if _origin is None or Path(_origin).resolve().parent.parent != _HOME:
        raise ImportError(
            f"atc needs its own {_name!r} in {_HOME}, but Python finds {_origin!r} first; rename that file, or install"
            " atc in an environment of its own."
        )

if TYPE_CHECKING:
    from atc.agent import Agent
    from atc.core.config import Config
    from atc.core.types import Attempt, Fault, Finding, Program, Solution
    from protocols.errors import AtcError, ModelUnavailable, ToolError
    from protocols.protocol import ToolProtocol
    from protocols.sources import load_tools
    from protocols.toolbox import Tool, Toolbox

__all__ = [
    "Agent", "AtcError", "Attempt", "Config", "Fault", "Finding", "ModelUnavailable", "Program", "Solution", "Tool",
    "ToolError", "ToolProtocol", "Toolbox", "load_tools",
]  # fmt: skip
_MODULES = {
    "Agent": "atc.agent",
    "Config": "atc.core.config",
    "Tool": "protocols.toolbox",
    "ToolProtocol": "protocols.protocol",
    "Toolbox": "protocols.toolbox",
    "load_tools": "protocols.sources",
    **dict.fromkeys(("AtcError", "ModelUnavailable", "ToolError"), "protocols.errors"),
}
"""Where a name is imported from when it is first asked for, if not from `atc.core.types`."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_MODULES.get(name, "atc.core.types")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
