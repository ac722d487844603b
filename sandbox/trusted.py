"""The backend without a boundary: a program runs on a thread of this process, for development only, on any platform.

The policy reviews the source. What passes is compiled by CPython as it stands, not rewritten to RestrictedPython's
guards: with them 28 to 33 of 44 ordinary programs ran, and they hold nothing that happens in C. A backend that cannot
be a boundary had better run a program exactly as the others do than look like one.

Kept: what the host keeps (tools, arguments, journal, calls, output, the size of results, wall time), and the program's
own clock, `random`, `uuid`, `secrets`, standard output and view of each module.

Not kept: memory and processor time; the hash seed, hence the order of sets of strings; the time zone, where a program
asks for the local time of a moment other than now. A thread cannot be killed: a program that ignores its end is left
behind, without tools and output; and one long call in C (`sum(range(10**12))`) holds up the whole process.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import ctypes
import datetime
import importlib
import importlib.util
import io
import os
import random
import socket
import sys
import threading
import zoneinfo
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from protocols.toolbox import Toolbox
from sandbox.base import Closing
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy import ALLOWED, BUILTINS, LAYER, PACKAGES, WITHOUT, module_problem, refused, review
from sandbox.rpc import Exit, serve
from sandbox.trace import Pins, Trace
from sandbox.zygote import child, program
from sandbox.zygote.channel import Channel, Interrupted
from sandbox.zygote.pins import Clock

WARNING = (
    "the trusted sandbox is no boundary: programs run inside this process; "
    "use the zygote, docker or monty sandbox for programs that you did not write"
)
LEFT = "a program ignored the end of its run and still runs inside this process; restart it to be rid of the program"

TRIES, TRY_SECONDS = 5, 0.01
"""How often a program is told to stop, and how long it has each time, before its thread is left behind."""

_COPIED = frozenset(
    """
    calendar contextlib dataclasses logging pprint random secrets statistics traceback uuid warnings _py_warnings
    """.split()  # noqa: SIM905
)
"""Modules that keep state, that read the clock or chance, or that print: each program has a copy of its own, made from
the same code. What they import of each other are copies, too."""

_INTERRUPTED, _CLOCK = "<interrupted>", "<clock>"
"""Names that the code finds among its builtins, and that no source can write."""


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr, flush=True)


class TrustedSandbox(Closing):
    """Runs programs on threads of this process. Runs may overlap, from any threads.

    `say` is told in one line, once, that this is no boundary, and whenever a program could not be stopped.
    """

    name = "trusted"
    layers = (LAYER, "own view of modules", "no limit of memory or processor time")
    """What stands between a program and this machine."""
    boundary = False
    """Whether the layers are meant to hold a hostile program: never."""

    def __init__(self, say: Callable[[str], None] = _say) -> None:
        self._say = say
        self._closed = False
        say(WARNING)

    def warm(self) -> None:
        """Nothing takes time to start."""

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that the policy refuses nothing runs."""
        if self._closed:
            raise SandboxUnavailable("the trusted sandbox was closed; make a new one")
        violations = review(source)
        if violations:
            return refused(violations, source, backend=self.name, pins=journal.open())
        thread = _Program(lambda: self._say(LEFT))
        return serve(thread, source, tools, limits=limits, journal=journal, backend=self.name)

    def close(self) -> None:
        """The sandbox cannot be used afterwards. Runs that are under way go on to their end."""
        self._closed = True


def unavailable() -> str | None:
    """Why this machine cannot run it: it always can, where the interpreter is CPython."""
    if sys.implementation.name != "cpython":
        return f"the trusted sandbox needs CPython, and this is {sys.implementation.name}; use the docker sandbox"
    return None


class _Program:
    """A `sandbox.rpc.Child` that is a thread. `left` is called when it does not stop."""

    def __init__(self, left: Callable[[], None]) -> None:
        self.channel, self._theirs = socket.socketpair()
        self._left = left
        self._state = threading.Lock()
        self._over = False
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._thread = threading.Thread(target=self._main, name="trusted-program", daemon=True)
        self._thread.start()

    def interrupt(self) -> None:
        """Have the program stop at its next line; one that sleeps, at once."""
        self._wake.put(None)
        with self._state:
            if not self._over:
                ident = ctypes.c_ulong(self._thread.ident or 0)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Interrupted))

    def end(self) -> Exit:
        """Stop the program. A thread cannot be killed: one that does not stop in time is left behind."""
        with suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)
        for _ in range(TRIES):
            self._thread.join(TRY_SECONDS)
            if not self._thread.is_alive():
                break
            self.interrupt()
        else:
            self._thread.join(TRY_SECONDS)
            if self._thread.is_alive():
                self._left()
        self.channel.close()
        return Exit(0, None, 0.0)

    def finish(self) -> None:
        """As `end`."""
        self.end()

    def _sleep(self, seconds: float) -> None:
        """Wait, unless the program has to stop. `get` of this queue is one instruction, so it can be interrupted."""
        try:
            self._wake.get(timeout=min(seconds, 1e9))
        except Empty:
            return
        self._wake.put(None)
        raise Interrupted

    def _main(self) -> None:
        theirs = self._theirs
        try:
            channel = Channel(theirs.fileno(), theirs.recv, theirs.send, gone=_gone, sleep=self._sleep)
            outcome, source = {}, ""
            try:
                start = channel.receive()
                source = start["source"]
                outcome = self._run(channel, start)
            except BaseException as error:  # noqa: BLE001 - an interrupt while the failure was being described
                outcome = program.failure(error, source, channel.roots)
            with self._state:
                self._over = True
            channel.finish(outcome)
        except (Interrupted, OSError):  # it came after the end, or nobody listens any more
            pass
        finally:
            with self._state:
                self._over = True
            self._theirs.close()

    def _run(self, channel: Channel, start: dict[str, Any]) -> dict[str, Any]:
        def new_loop() -> asyncio.AbstractEventLoop:
            loop = child.EventLoop(child.Selector(channel))
            loop.set_exception_handler(lambda *_: None)  # it would tell the host's error stream
            return loop

        sources = _Sources(Pins(**start["pins"]), self._sleep)
        main = ModuleType("__main__")
        modules = _Modules(sources, main, new_loop)
        streams = {"stdout": channel.output, "stderr": io.StringIO(), "stdin": io.StringIO()}
        vars(modules.sys).update({**streams, **{f"__{name}__": stream for name, stream in streams.items()}})
        vars(main)["__builtins__"] = {**modules.builtins, _INTERRUPTED: Interrupted, _CLOCK: sources.of}
        for alias, parameters in start["tools"].items():
            setattr(main, alias, child.tool(channel, alias, parameters))
        return program.run(start["source"], vars(main), channel.roots, rewrite=_rewrite, new_loop=new_loop)


def _gone() -> NoReturn:
    raise Interrupted


def _rewrite(tree: ast.Module) -> None:
    """Have handlers let the end of the run through whatever they catch, and `x.now`, `x.today` ask the clock.

    Types written in C cannot be given another clock for one program alone.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            again = ast.ExceptHandler(ast.Name(_INTERRUPTED, ast.Load()), None, [ast.Raise()])
            node.handlers.insert(0, ast.copy_location(again, node.handlers[0]))
        elif isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today"):
            asked = ast.Call(ast.Name(_CLOCK, ast.Load()), [node.value], [])
            node.value = ast.copy_location(asked, node.value)
    ast.fix_missing_locations(tree)


class _Sources:
    """The time and the entropy of one run."""

    def __init__(self, pins: Pins, sleep: Callable[[float], None]) -> None:
        self.seed = pins.seed
        self.random = random.Random(f"entropy {pins.seed}")  # noqa: S311 - to be the same each time is its purpose
        zone = self._zone = zoneinfo.ZoneInfo(pins.timezone) if pins.timezone != "UTC" else datetime.UTC
        self.clock = Clock(sleep, lambda seconds: datetime.datetime.fromtimestamp(seconds, zone).timetuple())
        self.clock.start(pins.clock)

    def now(self, tz: datetime.tzinfo | None = None) -> datetime.datetime:
        """What `datetime.now` gives."""
        moment = datetime.datetime.fromtimestamp(self.clock.now(), tz or self._zone)
        return moment if tz is not None else moment.replace(tzinfo=None)

    def of(self, value: Any) -> Any:
        """`value`, or what stands for a class whose `now` and `today` read the clock."""
        if value is datetime.datetime:
            utcnow = lambda: self.now(datetime.UTC).replace(tzinfo=None)  # noqa: E731
            return SimpleNamespace(now=self.now, today=self.now, utcnow=utcnow)
        return SimpleNamespace(today=lambda: self.now().date()) if value is datetime.date else value


class _Modules:
    """What a program gets when it imports: modules of its own, so that it changes neither the host's nor another's."""

    def __init__(self, sources: _Sources, main: ModuleType, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        def run(coroutine: Any, *, debug: bool | None = None, **_: Any) -> Any:
            with asyncio.Runner(debug=debug, loop_factory=new_loop) as runner:
                return runner.run(coroutine)

        pool = child.InlineExecutor
        own = cache(new_loop)
        loops = {"new_event_loop": new_loop, "get_event_loop": lambda: _running_loop() or own()}
        self._sources = sources
        self._overrides: dict[str, dict[str, Any]] = {
            "time": sources.clock.functions(),
            "asyncio": {"run": run, "to_thread": child.to_thread, **loops},
            "concurrent.futures": {"ThreadPoolExecutor": pool, "ProcessPoolExecutor": pool},
        }
        self._views: dict[str, ModuleType] = {}
        self.sys = self._views["sys"] = ModuleType("sys", sys.__doc__)
        changed = {"argv": ["<program>"], "setrecursionlimit": lambda limit: None, "warnoptions": []}  # noqa: ARG005
        vars(self.sys).update({**vars(sys), **changed, "modules": {**sys.modules, "__main__": main}})
        kept = {name: value for name, value in vars(builtins).items() if name not in BUILTINS}
        ours = {"print": self._print, "exit": sys.exit, "quit": sys.exit, "ToolError": child.ToolError}
        self.builtins = {**kept, **ours, "__import__": self._import}

    def _print(self, *values: object, file: Any = None, **how: Any) -> None:
        print(*values, file=self.sys.stdout if file is None else file, **how)

    def _import(
        self, name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        """The program's `__import__`."""
        if type(fromlist) is list:  # the interpreter itself imports, as for `strptime`
            return builtins.__import__(name, globals_, locals_, fromlist, level)
        problem = module_problem(name)
        if problem is not None or level:
            raise ImportError("; ".join(problem or ("a program has no package",)), name=name)
        view = self._view(name)
        for part in fromlist or ():
            if f"{name}.{part}" in ALLOWED:
                self._view(f"{name}.{part}")
        return view if fromlist else self._view(name.split(".")[0])

    def _view(self, path: str) -> ModuleType:
        view = self._views.get(path)
        if view is None:
            view = self._views[path] = self._copy(path) if path in _COPIED else _view_of(path)
            vars(view).update(self._overrides.get(path, {}))
            parent, _, name = path.rpartition(".")
            if parent:
                setattr(self._view(parent), name, view)
        return view

    def _copy(self, name: str) -> ModuleType:
        module = self._views[name] = ModuleType(name)  # at once: some import each other
        code, origin = _code(name)
        # Over the real one's names: some are put into what `sys.modules` has, not into what is being made.
        given = {**vars(builtins), **self.builtins, "__import__": self._import_for_copies}
        vars(module).update({**vars(importlib.import_module(name)), "__file__": origin, "__builtins__": given})
        exec(code, vars(module))  # noqa: S102 - a module of the standard library
        names = vars(module)
        if name == "random":
            generator, plain, entropy = names["Random"], names["Random"].seed, self._sources.random

            def seed(self: Any, a: Any = None, version: int = 2) -> None:
                plain(self, entropy.getrandbits(64) if a is None else a, version)

            generator.seed = seed
            names["seed"] = names["_inst"].seed
            names["seed"](self._sources.seed)
        elif name == "uuid":
            names.update(_generate_time_safe=None, _node=0x020000000000)
        return module

    def _import_for_copies(
        self, name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        if name == "os":
            pinned = {"urandom": self._sources.random.randbytes, "getpid": lambda: 1}
            return SimpleNamespace(**pinned, path=os.path, fspath=os.fspath, name=os.name)
        if name == "atexit":
            return SimpleNamespace(register=lambda *_: None)
        if name == "_warnings":
            raise ImportError(name)  # it would share the host's filters
        if name in _COPIED or name in ("sys", "time"):
            return self._view(name)
        return builtins.__import__(name, globals_, locals_, fromlist, level)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    with suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


def _view_of(path: str) -> ModuleType:
    """All that a module has but other modules."""
    real = importlib.import_module(path)
    view = ModuleType(path, real.__doc__)
    for name, value in vars(real).items():
        if path not in PACKAGES and not isinstance(value, ModuleType) and name not in WITHOUT.get(path, ()):
            view.__dict__[name] = value
    return view


@cache
def _code(name: str) -> tuple[CodeType, str | None]:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    loader: Any = spec.loader
    return loader.get_code(name), spec.origin
