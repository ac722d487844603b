"""What a person sees of a probing, on stderr: one moving line on a terminal, a line for each phase elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from atc.cli.moving import Moving
from atc.cli.output import clipped, count, escape_controls
from probing.events import Called, Event, Note, Phase, Step

_PHASES: dict[Phase, str] = {
    "discover": "calling tools alone",
    "chain": "calling tools with what others gave",
    "sharpen": "finding out what tools take and refuse",
    "link": "finding out whether values flow as they seem to",
    "write": "calling what changes something",
    "describe": "putting it into words",
}


class ProbeView(Moving):
    """Takes the events of one probing. A context manager, so that the moving line never outlives it.

    `sent` gives the calls so far, `most` says how many there may be.
    """

    def __init__(self, console: Console, *, sent: Callable[[], int], most: int) -> None:
        super().__init__(console, first="reading what is known")
        self._sent, self._most = sent, most
        self._step: Step | None = None
        self._answered: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Step():
                last, self._step = self._step, event
                if self._status is None and (last is None or (last.phase, last.round) != (event.phase, event.round)):
                    self.say(f"round {event.round}: {_PHASES[event.phase]} ({self._sums(event.left)})")
            case Called():
                if event.sample.done:
                    self._answered.add(event.sample.tool)
            case Note():
                self.say(event.text)
        self._moved()

    def say(self, sentence: str) -> None:
        """A sentence for the person."""
        self._console.print(Text(escape_controls(sentence)), soft_wrap=not self._console.is_terminal)

    def _moved(self) -> None:
        if self._status is not None and self._step is not None:
            step = self._step
            line = f"round {step.round} · {self._sums(step.left)} · {_PHASES[step.phase]}: {step.tool}"
            self._status.update(Text(clipped(escape_controls(line), self._console.width - 2)))

    def _sums(self, left: int) -> str:
        sent = f"{self._sent():,} of at most {count(self._most, 'call')}"
        return f"{count(left, 'tool')} to go, {sent}, {len(self._answered)} answered"
