"""What a name stands for at a point of the program."""

from __future__ import annotations

import ast

from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.frames import Frame
from atc.check.known.kinds import ANY, NONE, Function, Library, ToolRef, Type
from atc.check.source.names import GIVEN

_BUILTIN_NAMES = GIVEN - {"ToolError"}


def lookup(core: Core, node: ast.Name) -> Type:
    """What a name stands for here; reports a local name that no way to this point has assigned."""
    name = node.id
    if name in core.settled and not core.scopes.opaque:
        return core.settled[name]
    if name in core.volatile or core.scopes.opaque:
        return ToolRef(name) if name in core.tools and name not in core.volatile else ANY
    frame: Frame | None = core.frame
    detached = late = False
    while frame is not None:
        found = _in_frame(core, frame, node, detached=detached, late=late)
        if found is not None:
            return found
        detached, late = detached or frame.detached, late or frame.late
        frame = frame.parent
    if name in core.tools:
        return ToolRef(name)
    return Library(name) if name in _BUILTIN_NAMES else ANY


def _in_frame(core: Core, frame: Frame, node: ast.Name, *, detached: bool, late: bool) -> Type | None:
    name = node.id
    if frame is not core.frame and isinstance(frame.scope, ast.ClassDef):
        return None
    scope = core.scopes.by_node.get(frame.scope)
    env = frame.env if frame.env is not None or frame is core.frame else frame.last
    if env is not None and name in env.names:
        found = env.names[name]
        if isinstance(found, Function | Library | ToolRef):
            return found
        once = scope is not None and scope.sites.get(name) == 1 and found != NONE
        if detached or (late and not once):
            return ANY
        # Tests in the function that is running do not change what is known in another frame.
        return found if frame is core.frame else settled(found)
    if scope is None or name not in scope.bound:
        return None
    if isinstance(frame.scope, ast.ClassDef):
        return ANY
    if (
        frame.env is not None
        and not detached
        and not late
        and not core.catches_by_name("NameError", "UnboundLocalError")
    ):
        _report_unassigned(core, node)
    return ANY


def _report_unassigned(core: Core, node: ast.Name) -> None:
    if node.id in core.tools or node.id in GIVEN:
        return
    message = f"{node.id!r} is used before it is assigned. Assign it above this line."
    core.report("used-before-assignment", node, message)
    loops = core.frame.loops
    # The first turn of a loop meets this whatever later turns find assigned.
    if not core.quiet and loops and loops[-1].depth == core.depth and not loops[-1].continues and not loops[-1].breaks:
        core.lasting.append(core.findings[-1])


def lookup_silent(core: Core, node: ast.Name) -> Type:
    """`lookup` without a finding."""
    with core.silence():
        return lookup(core, node)
