"""Runs that somebody goes on with from the page: each in a thread, whose questions wait for an answer there."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from typing import Protocol

from atc.consent import AskPerson, Question, question_text
from atc.pages.markup import Html, join, tag
from atc.serve.view.calls import cut
from atc.store.stored import StoredRun
from protocols.errors import AtcError

_LONGEST_QUESTION = 20_000


class Resume(Protocol):
    """Goes on with a stored run and gives when it has ended."""

    def __call__(self, run: str, *, ask_person: AskPerson, accept_orphans: bool, resend: bool) -> object:
        """Return when it has ended or paused again."""


@dataclass
class _Going:
    """One run that goes on. `number` is that of the question that waits; its answer must name it."""

    thread: threading.Thread | None = None
    question: Question | None = None
    number: int = 0
    answer: bool | None = None
    allowed: set[str] = field(default_factory=set)
    """Identities of tools of which no further call is asked about, unless its values are tainted."""
    failed: str = ""


class Resumes:
    """All runs that go on from the page. `version` changes whenever there is something new to be shown."""

    def __init__(self, resume: Resume) -> None:
        self._resume = resume
        self._runs: dict[str, _Going] = {}
        self._changed = threading.Condition()
        self._numbers = itertools.count(1)
        self._closed = False
        self.version = 0

    def start(self, run: str, *, accept_orphans: bool = False, resend: bool = False) -> bool:
        """Go on with a run; False where that is under way already."""
        with self._changed:
            known = self._runs.get(run)
            if self._closed or (known is not None and known.thread is not None):
                return False
            going = self._runs[run] = _Going()
            going.thread = threading.Thread(
                target=self._work,
                args=(run, going),
                kwargs={"accept_orphans": accept_orphans, "resend": resend},
                daemon=True,
            )
            self._tell()
        going.thread.start()
        return True

    def answer(self, run: str, number: int, *, allow: bool, further: bool = False) -> bool:
        """Allow or refuse the call of question `number`; False where it is not the one that waits.

        `further`: nor is anybody to be asked about further calls of this tool in this run.
        """
        with self._changed:
            going = self._runs.get(run)
            if going is None or going.question is None or going.number != number or going.answer is not None:
                return False
            going.answer = allow
            if allow and further and not going.question.tainted:
                going.allowed.add(going.question.tool.identity)
            self._tell()
            return True

    def close(self, *, patience: float = 3.0) -> None:
        """Refuse what waits, so that its run pauses, and give the threads a moment to end."""
        with self._changed:
            self._closed = True
            self._tell()
        for going in list(self._runs.values()):
            if going.thread is not None:
                going.thread.join(patience)

    def show(self, stored: StoredRun) -> Html:
        """What can be done with a run now: its question answered, or the run gone on with."""
        run = stored.summary.id
        with self._changed:
            going = self._runs.get(run)
            question, number = (going.question, going.number) if going is not None else (None, 0)
            under_way, failed = going is not None and going.thread is not None, going.failed if going else ""
        if question is not None:
            return _question(run, question, number)
        parts = [tag("p", failed, class_="beware")] if failed else []
        if not under_way:
            parts += _ways_on(stored)
        return join(parts)

    def _work(self, run: str, going: _Going, *, accept_orphans: bool, resend: bool) -> None:
        failed = ""
        try:
            self._resume(
                run,
                ask_person=lambda question: self._ask(going, question),
                accept_orphans=accept_orphans,
                resend=resend,
            )
        except AtcError as error:
            failed = str(error)
        except Exception as error:  # noqa: BLE001 - the page is all that somebody sees of it
            failed = f"Going on failed: {type(error).__name__}: {error}"
        with self._changed:
            going.thread, going.question, going.failed = None, None, failed
            self._tell()

    def _ask(self, going: _Going, question: Question) -> bool:
        """An `AskPerson`: waits for the answer."""
        with self._changed:
            if question.tool.identity in going.allowed and not question.tainted:
                return True
            going.question, going.number, going.answer = question, next(self._numbers), None
            self._tell()
            self._changed.wait_for(lambda: going.answer is not None or self._closed)
            going.question = None
            self._tell()
            return bool(going.answer)

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()


def _question(run: str, question: Question, number: int) -> Html:
    def button(label: str, body: str, kind: str = "") -> Html:
        return tag("button", label, type="button", data_post=f"{run}/answer", data_body=body, class_=kind or None)

    known = f'"question": {number}'
    buttons = [button("Allow", f'{{{known}, "allow": true}}', "allow")]
    if not question.tainted:
        label = f"Allow this and further calls of {question.tool.alias}"
        buttons.append(button(label, f'{{{known}, "allow": true, "further": true}}'))
    buttons.append(button("Refuse", f'{{{known}, "allow": false}}', "refuse"))
    return join(
        [
            tag("h2", "A call waits for you"),
            tag("pre", cut(question_text(question), _LONGEST_QUESTION), class_="text question", tabindex=0),
            tag("p", *buttons, class_="buttons"),
        ]
    )


def _ways_on(stored: StoredRun) -> list[Html]:
    """How a run that stands still can be gone on with, each way a button."""
    run = stored.summary
    last = stored.attempts[-1] if stored.attempts else None
    doubtful = any(one.call.outcome == "unknown" for one in stored.calls)
    if run.status not in ("paused", "interrupted", "error"):
        return []

    def button(label: str, kind: str = "", **how: bool) -> Html:
        body = "{" + ", ".join(f'"{name}": true' for name in how) + "}"
        return tag("button", label, type="button", data_post=f"{run.id}/resume", data_body=body, class_=kind or None)

    said = {"interrupted": "Its process ended before it was done.", "error": "Something on our side failed."}
    why = said.get(run.status, "Writes are left that the final program does not make.")
    failure = last.trace.failure if last is not None and last.trace is not None else None
    if run.status == "paused" and last is not None and last.paused and failure is not None:
        why = failure.message
    buttons = [button("Go on, and ask me here", "allow")]
    if run.status == "paused" and last is not None and not last.paused:
        buttons = [button("Let the writes that are left stand", "allow", accept_orphans=True)]
    if doubtful:
        buttons.append(button("The write in doubt did not happen: send it again", resend=True))
    return [tag("h2", f"This run is {run.status}"), tag("p", why), tag("p", *buttons, class_="buttons")]
