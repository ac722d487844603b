"""A source policy: reads a program and refuses, with the place and a way out, what only attacks need.

It turns an attack, and an honest mistake such as `import requests`, into a clear message before anything runs. It is
never the boundary: what a program computes at run time it cannot see. `sandbox.zygote` and `sandbox.docker` hold a
hostile program; this tells its author.

RestrictedPython's guards cost ordinary programs (of 44, 28 to 33 ran) and hold nothing that happens in C, so only its
knowledge is taken: a node that it does not know is refused, so that a new version of Python adds no hole, and so are
attributes that lead into frames.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import NamedTuple

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

from protocols.parsing import parse
from protocols.toolbox import Toolbox
from sandbox.base import Closing, Sandbox
from sandbox.inline import bound_names
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, Frame, Pins, Trace

LAYER = "source policy"

SHOWN = 3
"""So many violations stand in a failure's message; the others are counted."""

WIDTH = 120
"""Of a longer line of source, so many characters around the place are shown."""

NO_FILES = "print what you found, or use io.StringIO for text in memory instead"

BUILTINS: dict[str, tuple[str, str]] = {
    "__import__": ("imports in a way that nobody can check", "use an import statement instead"),
    "breakpoint": ("needs somebody at a terminal", "use print instead"),
    "compile": ("makes code that nobody can check", "write the code itself, or use re.compile for a pattern instead"),
    "eval": ("runs text as code", "use ast.literal_eval for data, int or float for numbers instead"),
    "exec": ("runs text as code", "write the statements themselves instead"),
    "globals": ("gives more than the program's own names", "use a dict of your own instead"),
    "help": ("needs somebody at a terminal", "use the tool's documentation instead"),
    "input": ("is not available: nobody is there to answer", "use a value from the task, or from a tool instead"),
    "locals": ("gives more than the program's own names", "use a dict of your own instead"),
    "open": ("is not available: a program has no files", NO_FILES),
    "vars": ("gives more than an object's own data", "use the attributes by name, or dataclasses.asdict instead"),
}
"""Functions of Python that the policy refuses unless the program binds the name itself: why, and what to use."""

ALLOWED = frozenset(
    """
    __future__ abc array ast asyncio asyncio.exceptions asyncio.locks asyncio.queues asyncio.tasks base64 binascii
    bisect calendar cmath codecs collections collections.abc colorsys concurrent.futures configparser contextlib
    contextvars copy csv dataclasses datetime decimal difflib email.utils enum errno fnmatch fractions functools
    graphlib gzip hashlib heapq hmac html html.entities html.parser http inspect io ipaddress itertools json
    json.decoder json.encoder keyword logging math numbers operator pathlib pprint queue quopri random re reprlib
    secrets shlex statistics string struct sys textwrap threading time tomllib traceback types typing unicodedata
    urllib.parse uuid warnings weakref xml.etree.ElementTree zlib zoneinfo
    """.split()  # noqa: SIM905
)
"""The part of the standard library that is of use without files, network and processes."""

PACKAGES = frozenset(name.rpartition(".")[0] for name in ALLOWED if "." in name) - ALLOWED | {"xml"}
"""Those above them, which hold nothing else that a program may use."""

WITHOUT: dict[str, frozenset[str]] = {
    name: frozenset(names.split())
    for name, names in {
        "asyncio": "create_subprocess_exec create_subprocess_shell open_connection open_unix_connection start_server "
        "start_unix_server subprocess",
        "codecs": "open EncodedFile",
        "concurrent.futures": "process thread",
        "gzip": "open GzipFile",
        "inspect": "currentframe stack trace getmembers getmembers_static",
        "io": "open open_code FileIO",
        "logging": "FileHandler handlers config",
        "pathlib": "Path PosixPath WindowsPath",
        "string": "Formatter",
        "sys": "modules meta_path path path_hooks path_importer_cache setprofile settrace stdin unraisablehook",
        "threading": "Thread Timer excepthook setprofile settrace",
        "types": "CodeType FrameType",
        "xml.etree.ElementTree": "parse iterparse",
    }.items()
}
"""What a program may not use of these modules."""

_INTERPRETER = INSPECT_ATTRIBUTES | frozenset(
    """
    __base__ __bases__ __builtins__ __closure__ __code__ __file__ __func__ __globals__ __import__ __loader__ __mro__
    __reduce__ __reduce_ex__ __self__ __spec__ __subclasses__ mro
    """.split()  # noqa: SIM905
)
"""Attributes that lead to frames, code and the interpreter's own objects. Those with underscores are refused also where
they stand as text: what else would a program do with such a string?"""

_BY_NAME = frozenset(  # functions that take the name of an attribute as text
    (
        "getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller", "__getattribute__", "__getattr__",
        "__setattr__", "__delattr__",
    )
)  # fmt: skip

# Nodes that RestrictedPython refuses or never took up because its guards could not hold them, of which there are none.
_TAKEN = frozenset(
    """
    Nonlocal TryStar AsyncFor AsyncWith AsyncFunctionDef Await AnnAssign Match match_case MatchValue MatchSingleton
    MatchSequence MatchStar MatchAs MatchOr MatchMapping MatchClass TypeAlias TypeVar ParamSpec TypeVarTuple
    """.split()  # noqa: SIM905
)

_LINE_END = re.compile("\r\n|\r|\n")
_WORD = re.compile(r"[^\W\d]\w*")

Problem = tuple[str, str] | None
"""What is refused and why, and what to do instead (empty where there is nothing)."""


class Violation(NamedTuple):
    """A place in a program that the policy refuses. Line and column are 1-based."""

    line: int
    column: int
    message: str
    suggestion: str = ""


@lru_cache(maxsize=256)
def review(source: str) -> tuple[Violation, ...]:
    """What `source` does against the policy, in order of place; empty where it may run.

    Pure, and never raises. A source that Python cannot parse has no violations: that is for the run to tell.
    """
    try:
        nodes = list(ast.walk(parse(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # it cannot be compiled either
    reviewer, lines, found = _Reviewer(nodes), _LINE_END.split(source), set()
    for node in nodes:
        if (problem := reviewer.problem(node)) is not None:
            line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
            if isinstance(node, ast.Attribute):  # the name after the dot
                line, offset = node.end_lineno or line, (node.end_col_offset or 0) - len(node.attr.encode())
            text = lines[line - 1] if line <= len(lines) else ""
            column = len(text.encode("utf-8")[: max(offset, 0)].decode("utf-8", "ignore"))  # ast counts bytes
            found.add(Violation(line, column + 1, *problem))
    return tuple(sorted(found))


def render(violation: Violation, source: str) -> str:
    """The violation as up to three lines: what and where, the line of source, a way out."""
    text = [*_LINE_END.split(source), *[""] * violation.line][violation.line - 1]
    start = max(violation.column - 1 - WIDTH // 2, 0) if len(text) > WIDTH else 0
    line = "".join(char if char.isprintable() else " " for char in text[start : start + WIDTH]).strip()
    shown = [f"line {violation.line}: {violation.message}", f"    {line}", violation.suggestion]
    return "\n".join(part for part in shown if part.strip())


def module_problem(path: str) -> Problem:
    """What is wrong with importing the module at the dotted `path`."""
    if path in ALLOWED or path in PACKAGES:
        return None
    if path.split(".")[0] in sys.stdlib_module_names:
        instead = "get data from the declared tools, and print results: a program has no files, network and processes"
    else:
        instead = "use the standard library, or call the declared tools by their names instead"
    return f"the module {path!r} is not available in a program", instead


def member_problem(path: str, name: str) -> Problem:
    """What is wrong with `name` of the module at `path`, which may be a part of one that may be imported."""
    full = f"{path}.{name}"
    if full in ALLOWED or full in PACKAGES:
        return None
    if path in PACKAGES:
        return module_problem(full)
    private = name.startswith("_") and name not in ("__name__", "__doc__", "__version__", "__all__", "__annotations__")
    leads_on = path in ALLOWED and isinstance(getattr(importlib.import_module(path), name, None), ModuleType)
    if private or leads_on or name in WITHOUT.get(path, ()):
        return f"{full!r} is not available in a program", NO_FILES if name == "open" else ""
    return None


class _Reviewer:
    """What is wrong with single nodes of one program."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        bound, imported = set(bound_names(nodes)), dict(_imports(nodes))
        self._own = bound | imported.keys()
        self._modules = {name: path for name, path in imported.items() if name not in bound}
        """Names that stand for a module, or something of one, wherever they are read: for its dotted path."""

    def problem(self, node: ast.AST) -> Problem:
        """Why a node is refused."""
        kind, found = type(node).__name__, None
        match node:
            case ast.Name(id=name) if name in BUILTINS and name not in self._own:
                found = f"{name}() {BUILTINS[name][0]}", BUILTINS[name][1]
            case ast.Name(id=name) if name.startswith("__"):
                found = _attribute_problem(name)
            case ast.Attribute(attr=name, value=holder, ctx=use):
                found = self._attribute(holder, name, changes=not isinstance(use, ast.Load))
            case ast.Call(args=arguments):
                found = self._by_name(node, arguments)
            case ast.Constant(value=str(text)):
                found = _text_problem(text)
            case ast.BinOp():
                found = _text_problem(_text(node) or "")
            case ast.MatchClass(kwd_attrs=names):
                found = _first(_attribute_problem(name) for name in names)
            case ast.Import(names=aliases):
                found = _first(module_problem(alias.name) for alias in aliases)
            case ast.ImportFrom(level=level) if level:
                found = "a program has no package to import from", "write it into the program instead"
            case ast.ImportFrom(module=str(path), names=aliases):
                star = ("a star hides what is imported", "import the names that you use instead")
                parts = (star if alias.name == "*" else member_problem(path, alias.name) for alias in aliases)
                found = module_problem(path) or _first(parts)
            case _ if kind not in _TAKEN and not hasattr(RestrictingNodeTransformer, f"visit_{kind}"):
                found = f"{kind} statements are not allowed", ""
        return found

    def _attribute(self, holder: ast.AST, name: str, *, changes: bool) -> Problem:
        """What leads into the interpreter, or from a module to another; modules cannot be changed."""
        module = self._module(holder)
        if module is None:
            return _attribute_problem(name)
        changed = (f"the module {module!r} cannot be changed", "use a name of your own instead")
        return member_problem(module, name) or (changed if changes else None)

    def _by_name(self, call: ast.Call, arguments: list[ast.expr]) -> Problem:
        """As text, what is refused as an attribute."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        name = self._modules.get(name, name).rpartition(".")[2]  # `from operator import attrgetter as by`
        if name not in _BY_NAME:
            return None
        texts = [_text(argument) or "" for argument in arguments]
        if len(texts) > 1 and self._module(arguments[0]) is not None:
            return self._attribute(arguments[0], texts[1], changes=name in ("setattr", "delattr"))
        return _first(_attribute_problem(part) for text in texts for part in text.split("."))

    def _module(self, node: ast.AST) -> str | None:
        """The dotted path of the module, or of a part of one, that an expression stands for."""
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        path = self._modules.get(getattr(node, "id", ""), "")
        if not (path in ALLOWED or path in PACKAGES) or any(step[:1].isupper() for step in steps):
            return None  # the attributes of a class are like those of any object
        return ".".join([path, *reversed(steps)])


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that imports bind, and the dotted path of each."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                yield alias.asname or root, alias.name if alias.asname else root


def _attribute_problem(name: str) -> Problem:
    """What is wrong with the attribute `name` of any object."""
    if name not in _INTERPRETER:
        return None
    return f"{name!r} leads to the interpreter's own objects", "use traceback instead" if name.startswith("tb_") else ""


def _text_problem(text: str) -> Problem:
    """What is wrong with a constant string: it has such a name in it, or is a format that reads such an attribute."""
    for name in _WORD.findall(text) if "_" in text else ():
        if name in _INTERPRETER and (name.startswith("__") or "{" in text):
            return _attribute_problem(name)
    return None


def _first(problems: Iterator[Problem]) -> Problem:
    return next((problem for problem in problems if problem is not None), None)


def _text(node: ast.AST) -> str | None:
    """A constant string, also one that is written in pieces."""
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


class Policed(Closing):
    """Runs in `sandbox` the programs that the policy lets through, and tells why of those that it does not.

    Same contract, name and boundary as `sandbox`, which is closed with it.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.name, self.boundary = sandbox.name, sandbox.boundary

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and the machine."""
        return (*self.sandbox.layers, LAYER)

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that is refused nothing runs; its failure is a `policy` one."""
        violations = review(source)
        if violations:
            return refused(violations, source, backend=self.name, pins=journal.open())
        return self.sandbox.run(source, tools, limits=limits, journal=journal)

    def warm(self) -> None:
        """Start what the sandbox starts ahead of its first run."""
        self.sandbox.warm()

    def close(self) -> None:
        """Close the sandbox."""
        self.sandbox.close()


def refused(violations: tuple[Violation, ...], source: str, *, backend: str, pins: Pins) -> Trace:
    """The trace of a program that the policy did not let run."""
    message = "\n".join(render(violation, source) for violation in violations[:SHOWN])
    if len(violations) > SHOWN:
        message += f"\nand {len(violations) - SHOWN} more"
    failure = Failure(kind="policy", type="Refused", message=message, frames=(Frame(line=violations[0].line),))
    return Trace(failure=failure, backend=backend, pins=pins)
