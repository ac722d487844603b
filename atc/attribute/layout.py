"""What stands where in a program: parents, blocks, definitions, and those of them that may reach a use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from atc.attribute.definitions import Definition, definitions
from protocols.parsing import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Block = tuple[tuple[int, str], ...]
"""The chain of (id of compound statement, field) that leads to a statement, outermost first."""


@dataclass
class Layout:
    """A parsed program with what the slice asks of it."""

    tree: ast.Module
    parents: dict[int, ast.AST] = field(default_factory=dict)
    definitions: dict[tuple[int, str], list[Definition]] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)
    branching: set[int] = field(default_factory=set)
    """Ids of the `if` statements."""

    @classmethod
    def of(cls, source: str) -> Layout:
        """The layout of a program; raises `SyntaxError` for what is none."""
        layout = cls(parse(source))
        for parent in ast.walk(layout.tree):
            for child in ast.iter_child_nodes(parent):
                layout.parents[id(child)] = parent
        for node in ast.walk(layout.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = isinstance(layout.parents[id(node)], ast.ClassDef)
                (layout.methods if inside else layout.functions)[node.name] = node
            elif isinstance(node, ast.If):
                layout.branching.add(id(node))
            for definition in definitions(node):
                shared = definition.name.startswith(".")
                scope = layout.tree if shared else layout.scope(node, definition.name)
                layout.definitions.setdefault((id(scope), definition.name), []).append(definition)
        for found in layout.definitions.values():
            found.sort(key=lambda d: _position(d.node))
        return layout

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first, itself left out."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that `node` is or stands in."""
        for around in (node, *self.ancestors(node)):
            if isinstance(around, ast.stmt):
                return around
        return None

    def scope(self, node: ast.AST, name: str = "") -> Scope:
        """The function (or module) whose variable `name` is at `node`."""
        for around in self.ancestors(node):
            if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
                declared = (n for n in ast.walk(around) if isinstance(n, ast.Global | ast.Nonlocal))
                if not any(name in n.names for n in declared):
                    return around
        return self.tree

    def block(self, node: ast.AST) -> Block:
        """Where `node`'s statement stands, up to its scope."""
        chain: list[tuple[int, str]] = []
        child: ast.AST = node
        for parent in self.ancestors(node):
            if isinstance(parent, ast.stmt | ast.ExceptHandler | ast.match_case) and (name := _field(parent, child)):
                chain.append((id(parent), name))
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                break
            child = parent
        return tuple(reversed(chain))

    def loops(self, node: ast.AST) -> list[ast.AST]:
        """Loops of the same scope whose body `node` stands in, innermost first; comprehensions count."""
        found: list[ast.AST] = []
        child: ast.AST = node
        for parent in self.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                break
            in_body = isinstance(parent, Loop) and child not in (
                [parent.iter] if not isinstance(parent, ast.While) else []
            )
            if in_body or (isinstance(parent, Comprehension) and child is not parent.generators[0]):
                found.append(parent)
            child = parent
        return found

    def common_loop(self, one: ast.AST, other: ast.AST) -> ast.AST | None:
        """The innermost loop that both stand in."""
        around = {id(loop) for loop in self.loops(other)}
        return next((loop for loop in self.loops(one) if id(loop) in around), None)

    def reaching(self, name: str, use: ast.AST, scope: Scope) -> list[Definition]:
        """Definitions of `name` in `scope` that a use at `use` may see, nearest first."""
        found = self.definitions.get((id(scope), name), [])
        if self.scope(use, name) is not scope:
            return list(reversed(found))
        here, where = _position(use), self.block(use)
        inside = {id(node) for node in (use, *self.ancestors(use))}
        reached: list[Definition] = []
        killer: Definition | None = None
        for definition in reversed(found):
            before = _position(definition.node) < here and not self._after(definition, inside)
            if not before or self._exclusive(self._home(definition), where):
                continue
            reached.append(definition)
            if definition.strong and where[: len(home := self._home(definition))] == home:
                killer = definition
                break
        known = {id(d) for d in reached}
        for definition in reversed(found):
            if id(definition) in known or (loop := self.common_loop(definition.node, use)) is None:
                continue
            if killer is None or loop not in self.loops(killer.node):
                reached.append(definition)
        return reached

    def _home(self, definition: Definition) -> Block:
        """The block in which a definition holds; a loop's target holds in its body."""
        node = definition.node
        block = self.block(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith):
            return (*block, (id(node), "body"))
        return block

    def _after(self, definition: Definition, inside: set[int]) -> bool:
        """Whether the use is evaluated before the definition although it stands behind its beginning: `x = f(x)`."""
        return id(definition.node) in inside and id(definition.value) in inside

    def _exclusive(self, one: Block, other: Block) -> bool:
        """Whether the two stand in different branches of one `if`."""
        for (node, branch), (node2, branch2) in zip(one, other, strict=False):
            if node != node2 or branch != branch2:
                return node == node2 and node in self.branching
        return False


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _field(parent: ast.AST, child: ast.AST) -> str:
    """The name of the statement list of `parent` that holds `child`; empty for a header's expression."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        held = getattr(parent, name, None)
        if isinstance(held, list) and any(item is child for item in held):
            return name
    return ""
