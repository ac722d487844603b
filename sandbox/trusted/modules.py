"""What a program gets when it imports: a module of its own, so that it changes neither the host's nor another's."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
import types
import typing
from functools import cache
from typing import Any

from sandbox.policy.modules import ALLOWED, ONLY, PACKAGES, module_problem
from sandbox.trusted.moments import Clockwork

# Modules that keep state, that read the clock or chance, or that print: each program has a copy of its own, made from
# the same code. What they import of each other are copies, too.
_COPIED = frozenset(
    (
        "calendar", "contextlib", "dataclasses", "linecache", "logging", "pprint", "random", "secrets", "statistics",
        "traceback", "uuid", "warnings", "_py_warnings",
    )
)  # fmt: skip


class Modules:
    """The modules of one run. `overrides` has, by module, what stands in place of the real names."""

    def __init__(
        self, clockwork: Clockwork, overrides: dict[str, dict[str, Any]], main: types.ModuleType, source: str
    ) -> None:
        self._clockwork, self._main, self._source = clockwork, main, source
        self._overrides = {"time": clockwork.overrides(), "typing": {"get_type_hints": self._type_hints}, **overrides}
        self._views: dict[str, types.ModuleType] = {}
        self._builtins: dict[str, Any] = {}
        self.sys = self._views["sys"] = self._sys()

    def import_(
        self, name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0
    ) -> types.ModuleType:
        """The program's `__import__`."""
        if type(fromlist) is list:  # the interpreter itself imports, as for `strptime`
            return builtins.__import__(name, globals_, locals_, fromlist, level)
        problem = module_problem(name)
        if problem is not None or level:
            raise ImportError("; ".join(filter(None, problem or ("a program has no package",))), name=name)
        view = self._view(name)
        if not fromlist:
            return self._view(name.split(".")[0])
        for part in fromlist:
            if f"{name}.{part}" in ALLOWED:
                self._view(f"{name}.{part}")
        return view

    def use_builtins(self, names: dict[str, Any]) -> None:
        """Have the copies use the program's `print` and the like."""
        self._builtins = {**vars(builtins), **names, "__import__": self._import_for_copies}

    def _view(self, path: str) -> types.ModuleType:
        view = self._views.get(path)
        if view is None:
            view = self._views[path] = self._copy(path) if path in _COPIED else _view_of(path)
            vars(view).update(self._overrides.get(path, {}))
            parent, _, name = path.rpartition(".")
            if parent:
                setattr(self._view(parent), name, view)
        return view

    def _copy(self, name: str) -> types.ModuleType:
        module = types.ModuleType(name)
        code, origin = _code(name)
        # Over the real one's names: some are put into what `sys.modules` has, not into what is being made.
        vars(module).update({**vars(importlib.import_module(name)), "__file__": origin, "__builtins__": self._builtins})
        self._views[name] = module  # some import each other
        exec(code, vars(module))  # noqa: S102 - a module of the standard library
        finish = getattr(self, f"_finish_{name}", None)
        if finish is not None:
            finish(vars(module))
        return module

    def _import_for_copies(
        self, name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        if name == "os":
            return types.SimpleNamespace(
                urandom=self._clockwork.entropy, path=os.path, getpid=lambda: 1, fspath=os.fspath, name=os.name
            )
        if name == "atexit":
            return types.SimpleNamespace(register=lambda *_: None)
        if name == "_warnings":
            raise ImportError(name)  # it would share the host's filters
        if name in _COPIED or name in ("sys", "time"):
            return self._view(name)
        return builtins.__import__(name, globals_, locals_, fromlist, level)

    def _sys(self) -> types.ModuleType:
        view = types.ModuleType("sys", sys.__doc__)  # all of it, for the copies; the policy says what a program may use
        changed: dict[str, Any] = {
            "argv": ["<program>"],
            "setrecursionlimit": lambda limit: None,  # noqa: ARG005 - it would be the host's
            "modules": _Loaded(self),
            "warnoptions": [],
        }
        vars(view).update({**vars(sys), **changed})
        return view

    def loaded(self, name: str) -> Any:
        """What `sys.modules` has under `name`."""
        if name == "__main__":
            return self._main
        return self._views.get(name) or sys.modules.get(name)

    def _type_hints(self, obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False) -> Any:
        if isinstance(obj, type) and localns is None:  # it would look for the class's module among the host's
            localns = {**vars(self._main), **vars(obj)}
        return typing.get_type_hints(obj, globalns, localns, include_extras)

    def _finish_random(self, names: dict[str, Any]) -> None:
        generator, clockwork = names["Random"], self._clockwork
        plain = generator.seed

        def seed(self: Any, a: Any = None, version: int = 2) -> None:
            plain(self, clockwork.seed_of(a), version)

        generator.seed = seed
        names["seed"] = names["_inst"].seed
        names["seed"](clockwork.seed)

    def _finish_uuid(self, names: dict[str, Any]) -> None:
        names.update(_generate_time_safe=None, _node=0x020000000000)

    def _finish_linecache(self, names: dict[str, Any]) -> None:
        lines = self._source.splitlines(keepends=True)
        names["cache"]["<program>"] = (len(self._source), None, lines, "<program>")


class _Loaded(dict[str, Any]):
    """`sys.modules`, as the copies see it."""

    def __init__(self, modules: Modules) -> None:
        super().__init__()
        self._modules = modules

    def get(self, name: str, default: Any = None) -> Any:
        found = self._modules.loaded(name)
        return default if found is None else found

    def __missing__(self, name: str) -> Any:
        found = self._modules.loaded(name)
        if found is None:
            raise KeyError(name)
        return found


def _view_of(path: str) -> types.ModuleType:
    """All that a module has but other modules."""
    real = importlib.import_module(path)
    view = types.ModuleType(path, real.__doc__)
    if path not in PACKAGES:
        only = ONLY.get(path)
        for name, value in vars(real).items():
            if not isinstance(value, types.ModuleType) and (only is None or name in only or name.startswith("__")):
                view.__dict__[name] = value
    return view


@cache
def _code(name: str) -> tuple[types.CodeType, str | None]:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    loader: Any = spec.loader
    return loader.get_code(name), spec.origin
