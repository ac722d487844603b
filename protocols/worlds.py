"""Worlds: the state behind tools that are made by a factory, or that share a session.

A browser, a shell or a simulated service has a state that each call of a program changes. If the
next program of a run makes other calls, it must not start from the state that the previous program
left behind. A `World` records the calls that its state has had, and those that the running program
has made. If the two differ, it makes a fresh state and repeats the program's calls in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from protocols.errors import SourceUnavailable, ToolError
from protocols.schema import Json, JsonObject

Send = Callable[[JsonObject], Json]
Fresh = Callable[[], Mapping[str, Send]]
"""A function that makes a fresh state. It returns the function that calls each tool, by its name.
"""


Effect = Literal["pure", "session"]
"""What a call does, if it is neither a plain read nor a write.

A `pure` call has no effect, and always the same result for the same arguments. A `session` call
moves something that only the program uses, such as the page of a browser: it changes what later
calls return, and nothing that anybody would undo.
"""


class Step(NamedTuple):
    """A call that changed the state: the name of the tool, the arguments, and the response."""

    tool: str
    arguments: JsonObject
    result: Json


class World:
    """The state behind the tools that one factory made for a run, or behind one session.

    `fresh` makes a fresh state. It is None for a session that cannot be started again. Such a
    session continues from its present state, and `note` reports this. The calls of one world are
    made one after another. Thread-safe.
    """

    def __init__(self, name: str, fresh: Fresh | None = None) -> None:
        self._name = name
        self._fresh = fresh
        self._sends: Mapping[str, Send] = {}
        self._is_made = fresh is None
        self._had: list[Step] = []
        """The calls that the present state has had."""
        self._way: list[Step] = []
        """The calls of the running program so far, whether made or answered by the journal."""
        self._lock = threading.RLock()
        self.note: str | None = None
        """A sentence about a session that is not where the program expects it, or None."""

    @property
    def can_restart(self) -> bool:
        """True if a factory makes fresh states."""
        return self._fresh is not None

    def begin_run(self) -> None:
        """Prepare for another run: remove the note of the previous run."""
        with self._lock:
            self.note = None

    def begin(self) -> None:
        """Prepare for the next program."""
        with self._lock:
            self._way = []

    def answered(self, tool: str, arguments: JsonObject, result: Json) -> None:
        """Note a call of the running program that the journal answered."""
        with self._lock:
            self._way.append(Step(tool, arguments, result))

    def send(self, tool: str, arguments: JsonObject, send: Send, *, steps: bool) -> Json:
        """Make a call in the state that results from the calls of the running program.

        `send` makes the call, unless a factory made the tool: its fresh tools make the call then.
        `steps` is True if the call may change the state.

        Raises:
            ToolError: the call failed.
            SourceUnavailable: the factory failed, or a repeated call gave another response.
        """
        with self._lock:
            self.settle()
            if not self._is_made:
                self._restart()
            try:
                result = (
                    self._sends[tool](arguments) if self._fresh is not None else send(arguments)
                )
            except ToolError as error:
                if steps and error.outcome == "unknown":
                    self._note_step(Step(tool, arguments, None))
                raise
            if steps:
                self._note_step(Step(tool, arguments, result))
            return result

    def _note_step(self, step: Step) -> None:
        self._had.append(step)
        self._way.append(step)

    def settle(self) -> None:
        """Bring the state behind the tools to where the calls of the running program lead.

        Calls of the program that this state has not received yet are made now. If it has received
        calls of an earlier program that this one does not make, the factory first makes a fresh
        state. Without a factory nothing can be made anew: only `note` is set, which says so.

        Raises:
            SourceUnavailable: see `send`.
        """
        with self._lock:
            if self._had == self._way:
                return
            if self._fresh is None:
                self.note = (
                    f"the session of {self._name} went on from where it was, and not from where"
                    " the program begins: nothing starts the session again. Give a factory of"
                    " fresh tools, such as load_tools(factory=make_tools)."
                )
                self._had = list(self._way)
                return
            if not self._is_made or self._way[: len(self._had)] != self._had:
                self._restart()
            for step in self._way[len(self._had) :]:
                self._repeat(step)

    def _restart(self) -> None:
        """Make a fresh state, which has had no calls."""
        if self._fresh is not None:
            self._sends = self._fresh()
            self._is_made = True
            self._had = []

    def _repeat(self, step: Step) -> None:
        """Make a call of the program again, in a fresh state.

        Raises:
            SourceUnavailable: it fails, or its response is another one than before.
        """
        try:
            result = self._sends[step.tool](step.arguments)
        except ToolError as error:
            raise self._diverged(step, f"failed: {error}") from error
        if result != step.result:
            raise self._diverged(step, "gave another response")
        self._had.append(step)

    def _diverged(self, step: Step, what: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"{step.tool} of {self._name} {what} in a fresh world, although it had the same calls"
            " before; let the factory make worlds that answer alike."
        )
