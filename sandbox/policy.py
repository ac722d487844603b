"""The source policy: checks the source of a program before it runs, and refuses suspicious code.

A program that is refused does not run at all. The model gets a message with the line of the code
that was refused, for example of `import requests`. The policy is not a security boundary, because
it cannot see what a program computes at run time.

Two lists come from the library RestrictedPython. The first has the kinds of syntax nodes that the
library knows. A node of any other kind is refused, so that a new version of Python opens no hole.
The second has the attributes that lead to stack frames, which are refused as well. The run-time
guards of the library are not used. They break ordinary programs (of 44 programs, only 28 to 33 ran
with them), and they do not protect code that is written in C.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

from protocols.naming import split_words
from protocols.python_source import parse_python
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, Frame, Pins, Trace

LAYER = "source policy"
SHOWN = 3
"""Maximum number of violations that the message of a failure lists. The others are counted."""
BUILTINS = split_words(
    "__import__ breakpoint compile eval exec globals help input locals open vars"
)
"""Built-in functions that a program may not use, unless it defines the name itself."""

ALLOWED = split_words("""
    __future__ abc array ast asyncio asyncio.exceptions asyncio.locks asyncio.queues
    asyncio.tasks base64 binascii bisect calendar cmath codecs collections collections.abc
    colorsys concurrent.futures configparser contextlib contextvars copy csv dataclasses
    datetime decimal difflib email.utils enum errno fnmatch fractions functools graphlib gzip
    hashlib heapq hmac html html.entities html.parser http inspect io ipaddress itertools json
    json.decoder json.encoder keyword logging math numbers operator pathlib pprint queue quopri
    random re reprlib secrets shlex statistics string struct sys textwrap threading time tomllib
    traceback types typing unicodedata urllib.parse uuid warnings weakref xml.etree.ElementTree
    zlib zoneinfo
""")
"""Modules of the standard library that a program may import.

They are useful without files, network and processes."""

PACKAGES = frozenset(name.rpartition(".")[0] for name in ALLOWED if "." in name) - ALLOWED | {"xml"}
"""Packages of which a program may use only the allowed modules inside."""

WITHOUT = {
    "asyncio": "create_subprocess_exec create_subprocess_shell open_connection "
    "open_unix_connection start_server start_unix_server subprocess",
    "codecs": "open EncodedFile",
    "concurrent.futures": "process thread",
    "gzip": "open GzipFile",
    "inspect": "currentframe stack trace getmembers getmembers_static",
    "io": "open open_code FileIO",
    "logging": "FileHandler handlers config",
    "pathlib": "Path PosixPath WindowsPath",
    "string": "Formatter",
    "sys": "modules meta_path path path_hooks path_importer_cache setprofile settrace stdin "
    "unraisablehook",
    "threading": "Thread Timer excepthook setprofile settrace",
    "types": "CodeType FrameType",
    "xml.etree.ElementTree": "parse iterparse",
}
"""Members of allowed modules that a program may not use, keyed by module."""

_INTERPRETER = INSPECT_ATTRIBUTES | split_words("""
    __base__ __bases__ __builtins__ __closure__ __code__ __file__ __func__ __globals__
    __import__ __loader__ __mro__ __reduce__ __reduce_ex__ __self__ __spec__ __subclasses__ mro
""")
"""Attributes that give access to frames, code and internal objects of the interpreter.

Those with underscores are refused in strings as well, because no ordinary program needs them."""

# Nodes that RestrictedPython refuses only because its guards cannot hold them. Without guards they
# are allowed.
_TAKEN = split_words("""
    Nonlocal TryStar AsyncFor AsyncWith AsyncFunctionDef Await AnnAssign Match match_case
    MatchValue MatchSingleton MatchSequence MatchStar MatchAs MatchOr MatchMapping MatchClass
    TypeAlias TypeVar ParamSpec TypeVarTuple
""")

_WORD = re.compile(r"[^\W\d]\w*")


class PolicyViolation(NamedTuple):
    """A message about code that the policy refuses, and the line of this code (from 1)."""

    line: int
    message: str


def review(source: str) -> tuple[PolicyViolation, ...]:
    """Return the places in a program that violate the source policy, sorted by line.

    This has no side effects and never raises an exception. Source code that Python cannot parse has
    no violations, because its syntax error is reported when it is run.
    """
    try:
        nodes = list(ast.walk(parse_python(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # it cannot be compiled either
    reviewer = _Reviewer(nodes)
    found = {
        (getattr(node, "lineno", 1), problem)
        for node in nodes
        for problem in reviewer.problems(node)
    }
    return tuple(PolicyViolation(line, problem) for line, problem in sorted(found))


class PolicySandbox(Sandbox):
    """Checks each program with the source policy, and runs those without violations in a sandbox.

    When it is closed, this other sandbox is closed as well.
    """

    name = ""
    boundary = False
    layers: tuple[str, ...] = ()

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self.boundary = sandbox.boundary
        self.layers = (*sandbox.layers, LAYER)
        self._sandbox = sandbox

    def warm(self) -> None:
        """Start slow parts of the other sandbox in the background."""
        self._sandbox.warm()

    def close(self) -> None:
        """Close the other sandbox: end all its processes and close all descriptors."""
        self._sandbox.close()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run the program `source` in the other sandbox, unless it violates the policy.

        Return the trace. The details are those of `sandbox.base.Sandbox.run`. A program with
        violations does not run. Its failure has the kind `policy`.
        """
        if violations := review(source):
            return refusal_trace(violations, backend=self.name, pins=journal.open())
        return self._sandbox.run(source, tools, limits=limits, journal=journal)


def refusal_trace(violations: tuple[PolicyViolation, ...], *, backend: str, pins: Pins) -> Trace:
    """Return the trace of a program that the policy refused."""
    shown = [f"line {line}: {message}" for line, message in violations[:SHOWN]]
    if len(violations) > SHOWN:
        shown.append(f"and {len(violations) - SHOWN} more")
    frames = (Frame(line=violations[0].line),)
    failure = Failure(kind="policy", type="Refused", message="\n".join(shown), frames=frames)
    return Trace(failure=failure, backend=backend, pins=pins)


def _module_problems(path: str) -> Iterator[str]:
    if path not in ALLOWED | PACKAGES:
        yield (
            f"the module {path!r} is not available in a program: "
            "use the declared tools, and print results"
        )


def _member_problems(path: str, name: str) -> Iterator[str]:
    """Yield the reason why a program may not use the member `name` of a module.

    Yield nothing if it may. `path` is the dotted path of the module.
    """
    full = f"{path}.{name}"
    module = path in ALLOWED and isinstance(
        getattr(importlib.import_module(path), name, None), ModuleType
    )
    private = name.startswith("_") and name not in (
        "__name__",
        "__doc__",
        "__version__",
        "__all__",
        "__annotations__",
    )
    if full in ALLOWED | PACKAGES:
        return
    if path in PACKAGES:
        yield from _module_problems(full)
    elif name == "*":
        yield "a star hides what is imported"
    elif private or module or name in WITHOUT.get(path, "").split():
        yield f"{full!r} is not available in a program"


def _import_problems(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _module_problems(alias.name)
    elif node.level or node.module is None:
        yield "a program has no package to import from"
    elif node.module not in ALLOWED | PACKAGES:
        yield from _module_problems(node.module)
    else:
        for alias in node.names:
            yield from _member_problems(node.module, alias.name)


def _name_problems(*names: str) -> Iterator[str]:
    """Yield a message for each of `names` that is an attribute which no program may use.

    An example is `__globals__`, which leads to objects of the interpreter.
    """
    return (
        f"{name!r} leads to the interpreter's own objects" for name in names if name in _INTERPRETER
    )


def _kind_problems(node: ast.AST) -> Iterator[str]:
    """Yield the reason why a kind of syntax node is not allowed. Yield nothing if it is allowed."""
    kind = type(node).__name__
    if kind not in _TAKEN and not hasattr(RestrictingNodeTransformer, f"visit_{kind}"):
        yield f"{kind} statements are not allowed"


class _Reviewer:
    """Finds what the source policy forbids in the syntax nodes of one program."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        bound = set(_bound_names(nodes))
        imported = dict(_imports(nodes))
        self._own = bound | imported.keys()
        self._modules = {name: path for name, path in imported.items() if name not in bound}
        """Names that always mean an imported module or its member, with their dotted paths."""

    def problems(self, node: ast.AST) -> Iterator[str]:
        """Yield the reasons why a syntax node is not allowed. Yield nothing if it is allowed."""
        match node:
            case ast.Name(id=name):
                yield from self._read_name(name)
            case ast.Attribute(attr=name, value=holder, ctx=use):
                yield from self._attribute(holder, name, changes=not isinstance(use, ast.Load))
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "delattr" as name), args=[holder, *_]
            ):
                if module := self._module(holder):
                    yield (
                        f"{name}() is not available for the module {module!r}: write its names out"
                    )
            case ast.Constant(value=str()) | ast.BinOp():
                words = _WORD.findall(_text(node) or "")
                yield from _name_problems(*[word for word in words if "_" in word])
            case ast.MatchClass(kwd_attrs=names):
                yield from _name_problems(*names)
            case ast.Import() | ast.ImportFrom():
                yield from _import_problems(node)
            case _:
                yield from _kind_problems(node)

    def _read_name(self, name: str) -> Iterator[str]:
        """Yield the reason why a program may not use a name. Yield nothing if it may."""
        if name in BUILTINS and name not in self._own:
            yield f"{name}() is not available in a program"
        elif name.startswith("__"):
            yield from _name_problems(name)

    def _attribute(self, holder: ast.AST, name: str, *, changes: bool) -> Iterator[str]:
        """Yield the reason why a program may not use the attribute `name` of an expression.

        Yield nothing if it may. `holder` is the expression. `changes` is True if the program
        assigns or deletes the attribute. This is refused if the expression is a module.
        """
        module = self._module(holder)
        if module is None:
            yield from _name_problems(name)
        elif problems := list(_member_problems(module, name)):
            yield from problems
        elif changes:
            yield f"the module {module!r} cannot be changed"

    def _module(self, node: ast.AST) -> str | None:
        """Return the dotted path of the module, or member of a module, that an expression names.

        Return None for any other expression.
        """
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        path = self._modules.get(getattr(node, "id", ""), "")
        if not (path in ALLOWED or path in PACKAGES) or any(step[:1].isupper() for step in steps):
            return None  # the attributes of a class are like those of any object
        return ".".join([path, *reversed(steps)])


def _bound_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield all names that a program defines anywhere, except by imports."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif not isinstance(
            node, ast.alias | ast.keyword
        ):  # arguments, functions, classes, handlers, patterns
            names = (getattr(node, field, None) for field in ("name", "arg", "rest"))
            yield from (name for name in names if isinstance(name, str))


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each name that an import defines, with the dotted path of what is imported."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (
                (alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names
            )
        elif isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                yield alias.asname or root, alias.name if alias.asname else root


def _text(node: ast.AST) -> str | None:
    """Return the string to which an expression of constants joined by `+` evaluates.

    Return None for any other expression.
    """
    pieces: list[str] = []
    stack = [node]
    while stack:
        match stack.pop():
            case ast.Constant(value=str(value)):
                pieces.append(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                stack += [right, left]
            case _:
                return None
    return "".join(pieces)
