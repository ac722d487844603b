"""Let a language model act on APIs by writing one dependable program."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from atc.agent import Agent as Agent
    from atc.config import Config as Config
    from atc.types import Attempt as Attempt
    from atc.types import Fault as Fault
    from atc.types import Finding as Finding
    from atc.types import Program as Program
    from atc.types import Solution as Solution
    from protocols.errors import AtcError as AtcError
    from protocols.errors import ModelUnavailable as ModelUnavailable
    from protocols.errors import ToolError as ToolError
    from protocols.protocol import ToolProtocol as ToolProtocol
    from protocols.sources import load_tools as load_tools
    from protocols.toolbox import Tool as Tool
    from protocols.toolbox import Toolbox as Toolbox

__version__ = "0.1.0"

_EXPORTS = {
    "Agent": "atc.agent",
    "AtcError": "protocols.errors",
    "Attempt": "atc.types",
    "Config": "atc.config",
    "Fault": "atc.types",
    "Finding": "atc.types",
    "ModelUnavailable": "protocols.errors",
    "Program": "atc.types",
    "Solution": "atc.types",
    "Tool": "protocols.toolbox",
    "ToolError": "protocols.errors",
    "ToolProtocol": "protocols.protocol",
    "Toolbox": "protocols.toolbox",
    "load_tools": "protocols.sources",
}
__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
