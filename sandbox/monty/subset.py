"""Which failures say that monty lacks something, and not that the program is wrong."""

from __future__ import annotations

import builtins
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque

from sandbox import errors


class Unsupported(errors.Unsupported):
    """The program needs something of Python that monty has not, and it has made no call: run it on another backend.

    `what` is missing; `line` is the program's line that needs it, 0 where nobody knows.
    """

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what, line)
        self.what, self.line = what, line

    def __str__(self) -> str:
        return message(self.what, self.line)


def message(what: str, line: int) -> str:
    """The sentence for a program that needs `what`."""
    place = f" (line {line})" if line else ""
    return f"the monty sandbox runs a subset of Python, without {what}{place}; use the zygote or docker sandbox for it"


DOUBTFUL = frozenset(
    {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "NotImplementedError", "TypeError"}
)
"""What monty may raise where it lacks something: before the first call another backend may judge as well."""

_PARSER = re.compile(r"The monty syntax parser does not yet support (.+)")
_NO_ATTRIBUTE = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'")
_NO_MEMBER = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_NO_IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")

_KINDS: dict[str, type] = {
    **{name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)},
    **{kind.__name__: kind for kind in (Counter, OrderedDict, defaultdict, deque, types.FunctionType)},
    "_io.TextIOWrapper": type(sys.__stdout__),
}


def missing(type_: str, text: str) -> str | None:
    """What monty lacks, where that is what an uncaught exception of this type and text says."""
    if type_ == "NotImplementedError":
        if found := _PARSER.search(text):
            return found[1]
        return text if "cannot suspend" in text or "monty" in text else None
    if type_ == "RuntimeError":
        return (
            text if text.startswith("Internal error in monty") or "not supported in this environment" in text else None
        )
    if type_ == "AttributeError":
        return _missing_attribute(text)
    if type_ == "NameError" and (found := _NO_NAME.search(text)):
        return missing_builtin(found[1])
    if type_ in ("ImportError", "ModuleNotFoundError"):
        return _missing_import(text)
    return None


def missing_module(name: str) -> str | None:
    """The standard library's module that an import asked for, as what is missing."""
    return f"the module {name}" if name.split(".")[0] in sys.stdlib_module_names else None


def missing_builtin(name: str) -> str | None:
    """The builtin that a name stands for in Python, as what is missing."""
    return f"the builtin {name}" if hasattr(builtins, name) or name == "__builtins__" else None


def _missing_attribute(text: str) -> str | None:
    if found := _NO_MEMBER.search(text):
        return f"{found[1]}.{found[2]}" if _has(found[1], found[2]) else None
    if found := _NO_ATTRIBUTE.search(text):
        kind = _KINDS.get(found[1])
        return f"{found[1]}.{found[2]}" if kind is not None and hasattr(kind, found[2]) else None
    return None


def _missing_import(text: str) -> str | None:
    if found := _NO_IMPORT.search(text):
        return f"{found[2]}.{found[1]}" if _has(found[2], found[1]) else None
    if found := _NO_MODULE.search(text):
        return missing_module(found[1])
    return None


def _has(module: str, name: str) -> bool:
    """Whether Python's module has that name; where it is not loaded here nobody looks, and the answer is yes."""
    if missing_module(module) is None:
        return False
    loaded = sys.modules.get(module)
    return loaded is None or hasattr(loaded, name)
