"""`match`: what patterns bind, and what they can never match."""

from __future__ import annotations

import ast
from typing import Any

from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.fields import calmed, field_type
from atc.check.known.frames import join_env
from atc.check.known.kinds import ANY, NONE, Array, Library, Listing, Mapped, Null, Record, Tuple, Type
from atc.check.known.lattice import join, keep, members, not_none
from atc.check.known.objects import Class, Instance
from atc.check.library.dicts import ENVELOPE
from atc.check.narrowing.narrow import KINDS, refine
from atc.check.narrowing.relax import relax
from atc.check.narrowing.turns import narrow_constants
from atc.check.operations.equality import check_case
from atc.check.operations.iteration import iterate_items
from atc.check.reading.misread import report_read
from atc.check.source.memo import walk

_TESTS = (ast.MatchValue, ast.MatchSingleton, ast.MatchClass)


def match_statement(core: Core, node: ast.Match) -> None:
    """`match`."""
    remaining = core.evaluate(node.subject)
    before, result = core.frame.env, None
    complete = tested = False
    for case in node.cases:
        core.frame.env = before.copy() if before is not None else None
        # A literal in a pattern, here or before, may rule out nulls of other fields.
        tested |= any(isinstance(part, _TESTS) for part in walk(case.pattern))
        narrow_constants(core, node.subject, truth=True)
        subject = settled(calmed(remaining) if tested else remaining)
        fitting = bind_pattern(core, case.pattern, subject, node.subject)
        if isinstance(node.subject, ast.Name):
            core.bind(node.subject.id, fitting)
        relax(core, node.subject)
        if case.guard is not None:
            core.evaluate(case.guard)
            refine(core, case.guard, True)
        complete |= case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
        with core.condition():
            core.execute(case.body)
        result = join_env(result, core.frame.env)
        tested |= case.guard is not None
        if case.guard is None:
            remaining = _without(case.pattern, remaining)
    core.frame.env = result if complete else join_env(result, before)


def bind_pattern(core: Core, pattern: ast.pattern, value: Type, subject: ast.expr) -> Type:
    """Bind what a pattern captures of `value`; gives the alternatives that may match."""
    match pattern:
        case ast.MatchValue(value=constant):
            check_case(core, constant, value, core.evaluate(constant), subject)
            return not_none(value)
        case ast.MatchSingleton(value=None):
            return NONE
        case ast.MatchMapping():
            return _mapping(core, pattern, value, subject)
        case ast.MatchSequence(patterns=parts):
            return _sequence(core, parts, value, subject)
        case ast.MatchClass():
            return _class(core, pattern, value, subject)
        case ast.MatchStar(name=str(name)):
            core.bind(name, core.listing(pattern, value))
        case ast.MatchAs(pattern=None, name=str(name)):
            core.bind(name, value)
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            value = bind_pattern(core, inner, value, subject)
            if name is not None:
                core.bind(name, value)
        case ast.MatchOr(patterns=parts):
            return _either(core, parts, value, subject)
    return value


def _mapping(core: Core, pattern: ast.MatchMapping, value: Type, subject: ast.expr) -> Type:
    dicts = keep(value, lambda member: isinstance(member, Record | Mapped))
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        bind_pattern(core, part, _under(core, dicts, key, subject), subject)
    if pattern.rest is not None:
        core.bind(pattern.rest, ANY)
    return dicts


def _under(core: Core, dicts: Type, node: ast.expr, subject: ast.expr) -> Type:
    """What stands under the key of a mapping pattern; reports one that no alternative has."""
    key: Any = node.value if isinstance(node, ast.Constant) else None
    records = [member for member in members(dicts) if isinstance(member, Record)]
    if not isinstance(key, str) or len(records) < len(members(dicts)) or key in core.overwritten:
        return ANY
    found = [kind for record in records if (kind := field_type(record, key)) is not None]
    if not found and key not in ENVELOPE:
        read = ast.copy_location(ast.Subscript(subject, node, ast.Load()), node)
        report_read(core, records[0], key, read)
    return join(*found) if found else ANY


def _sequence(core: Core, parts: list[ast.pattern], value: Type, subject: ast.expr) -> Type:
    lists = keep(value, lambda member: isinstance(member, Array | Listing | Tuple))
    items = lists.items if isinstance(lists, Tuple) else ()
    exact = len(items) == len(parts) and not any(isinstance(part, ast.MatchStar) for part in parts)
    item = iterate_items(core, lists)
    for index, part in enumerate(parts):
        bind_pattern(core, part, items[index] if exact else item, subject)
    return lists


def _class(core: Core, pattern: ast.MatchClass, value: Type, subject: ast.expr) -> Type:
    with core.silence():
        kind = core.evaluate(pattern.cls)
    fitting: Type = ANY
    inside: list[tuple[ast.pattern, Type]] = [(part, ANY) for part in (*pattern.patterns, *pattern.kwd_patterns)]
    if isinstance(kind, Library) and kind.name in KINDS:
        fitting = keep(value, KINDS[kind.name])
        inside = [(part, fitting) for part in pattern.patterns]
    elif isinstance(kind, Class):
        fitting = Instance(kind.shape)
        held, fields = kind.shape.attributes, kind.shape.fields or ()
        names = [*fields[: len(pattern.patterns)], *pattern.kwd_attrs]
        if len(names) == len(inside):
            inside = [(part, held.get(name, ANY)) for (part, _), name in zip(inside, names, strict=True)]
    for part, known in inside:
        bind_pattern(core, part, known, subject)
    return fitting


def _either(core: Core, parts: list[ast.pattern], value: Type, subject: ast.expr) -> Type:
    start, result, fitting = core.frame.env, None, []
    for part in parts:
        core.frame.env = start.copy() if start is not None else None
        fitting.append(bind_pattern(core, part, value, subject))
        result = join_env(result, core.frame.env)
    core.frame.env = result
    return join(*fitting)


def _without(pattern: ast.pattern, value: Type) -> Type:
    """What the following cases may still get."""
    match pattern:
        case ast.MatchSingleton(value=None):
            return not_none(value)
        case ast.MatchClass(cls=ast.Name(id=name), patterns=[], kwd_patterns=[]) if name in KINDS:
            rest = [member for member in members(value) if not KINDS[name](member) or _partly(member, name)]
            return join(*rest) if rest else ANY
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _without(inner, value)
        case ast.MatchOr(patterns=parts):
            for part in parts:
                value = _without(part, value)
            return value
        case _:
            return value


def _partly(member: Type, name: str) -> bool:
    """Whether only some values of this alternative are of the kind `name`."""
    return getattr(member, "name", "") == "number" or (name == "int" and isinstance(member, Null))
