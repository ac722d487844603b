"""Methods of values of built-in types: which kind's they are."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    INT,
    Array,
    Atom,
    Awaitable,
    Listing,
    Mapped,
    Record,
    Tuple,
    Type,
)
from atc.check.known.lattice import joined, members
from atc.check.known.objects import Made
from atc.check.library import pools
from atc.check.library.concurrency import create_task
from atc.check.library.dicts import call_dict, get
from atc.check.library.lists import call_list
from atc.check.library.texts import call_text
from atc.check.operations import moments


def call_method(core: Core, value: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What `value.method(…)` gives, and what it changes."""
    if func.attr == "get" and any(isinstance(member, Record | Mapped) for member in members(value)):
        return get(core, value, node, arguments)
    return joined([_call_one(core, member, func, node, arguments) for member in members(value)])


def _call_one(core: Core, member: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    match member:
        case Record() | Mapped():
            return call_dict(core, member, func, node, arguments)
        case Array() | Listing():
            return call_list(core, member, func, node, arguments)
        case Atom("str"):
            return call_text(core, member, func, node, arguments)
        case Made("Executor" | "Future"):
            return pools.call_method(core, member, func, node, arguments)
        case Made("TaskGroup"):
            return create_task(core, arguments) if func.attr == "create_task" else ANY
        case Made():
            return moments.call_method(member, func.attr, arguments)
        case Awaitable(result) if func.attr == "result":
            return result
        case Tuple() if func.attr in ("index", "count"):
            return INT
        case Tuple():
            core.foreign = True
            return ANY
        case _:
            core.escape(arguments.every())
            return ANY
