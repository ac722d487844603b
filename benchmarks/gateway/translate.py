"""A program over plain functions, as the rivals take it: each call awaited by name, the answer returned."""

from __future__ import annotations

import ast

from protocols.toolbox import Toolbox

_HEAD = """_said = []
def print(*values):
    _said.append(" ".join([str(value) for value in values]))
"""
_TAIL = '\nreturn "\\n".join(_said)\n'


class Untranslatable(Exception):
    """The program calls a tool where no `await` may stand."""


def translated(program: str, tools: Toolbox, *, prefix: str = "", also: frozenset[str] = frozenset()) -> str:
    """`program` with `await call_tool(prefix + name, {…})` for each call of a tool, and responses unwrapped as here.

    What the program prints is its answer. Functions that call tools become asynchronous, and generators become lists.
    `also` names tools besides `tools`, which no service has.

    Raises:
        Untranslatable: a lambda calls a tool.
    """
    tree = ast.parse(program)
    calling = {*tools, *also}
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    waiting: set[str] = set()
    while True:
        found = {name for name, node in functions.items() if _calls(node, calling | waiting)}
        if found == waiting:
            break
        waiting = found
    changed = ast.fix_missing_locations(_Awaiting(tools, calling, waiting, prefix).visit(tree))
    return _HEAD + ast.unparse(changed) + _TAIL


def _calls(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in names for one in ast.walk(node)
    )


class _Awaiting(ast.NodeTransformer):
    def __init__(self, tools: Toolbox, calling: set[str], waiting: set[str], prefix: str) -> None:
        self._tools, self._calling, self._waiting, self._prefix = tools, calling, waiting, prefix

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function that calls tools, as an asynchronous one."""
        self.generic_visit(node)
        if node.name not in self._waiting:
            return node
        return ast.AsyncFunctionDef(**{field: getattr(node, field) for field in node._fields})

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A lambda, which must call no tool."""
        if _calls(node, self._calling | self._waiting):
            raise Untranslatable("a lambda calls a tool")
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """A generator, as an iterator over a list: it may await, and Monty takes no `next` of a generator."""
        self.generic_visit(node)
        whole = ast.ListComp(elt=node.elt, generators=node.generators)
        return ast.Call(func=ast.Name("iter", ast.Load()), args=[whole], keywords=[])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """A handler; what a rival's failed call raises is an `Exception`."""
        self.generic_visit(node)
        if isinstance(node.type, ast.Name) and node.type.id == "ToolError":
            node.type = ast.Name("Exception", ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of a tool or of a function that calls one, awaited."""
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        name = node.func.id
        if name in self._waiting:
            return ast.Await(node)
        if name not in self._calling:
            return node
        tool = self._tools.get(name)
        original = tool.protocol.name if tool is not None else name
        arguments = tool.arguments if tool is not None else {}
        named: list[ast.expr | None] = [
            ast.Constant(arguments.get(keyword.arg, keyword.arg)) if keyword.arg else None for keyword in node.keywords
        ]
        given = ast.Dict(keys=named, values=[keyword.value for keyword in node.keywords])
        call = ast.Call(
            func=ast.Name("call_tool", ast.Load()), args=[ast.Constant(self._prefix + original), given], keywords=[]
        )
        if tool is None or tool.wrapper is None:
            return ast.Await(call)
        return ast.Subscript(value=ast.Await(call), slice=ast.Constant(tool.wrapper), ctx=ast.Load())
