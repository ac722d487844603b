"""Programs with a `return` outside of functions run like modules."""

from __future__ import annotations

import ast
import inspect

import pytest

from sandbox.returns import compile_returning, has_return


@pytest.mark.parametrize(
    ("source", "value", "names"),
    [
        ("x: int = 1\nif x:\n    return x\ny = 2", 1, {"x": 1}),
        ("def f():\n    global n\n    n = 5\nn = 1\nf()\nif not n:\n    return\nn", 5, {"n": 5}),
        ("import os.path as p, json\nfor i in [1]:\n    (k := i)\nreturn [k, i, json.loads('2')]", [1, 1, 2], {"k": 1}),
        ("class A:\n    b = 1\n    def f(self): return self.b\nreturn A().f()", 1, {}),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return str(e)", "division by zero", {}),
    ],
)  # fmt: skip
def test_a_program_returns(source, value, names):
    tree = ast.parse(source)
    assert has_return(tree)
    namespace = {"__name__": "__main__"}
    code = compile_returning(tree, "<program>")
    assert eval(code, namespace) == value
    assert names.items() <= namespace.items()
    assert code.co_name == "<module>"


def test_a_program_that_awaits_returns_too():
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile("return await x", "", "exec", flags, dont_inherit=True)
    assert compile_returning(tree, "").co_flags & inspect.CO_COROUTINE
    assert not has_return(ast.parse("def f():\n    return 1"))
