"""Runs that a person continues from a page.

Each runs in a thread. Its questions are shown and answered on the page.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atc.core.pages.markup import NOTHING, Markup, escape
from atc.core.pages.templates import load_templates
from atc.safety.questions import Question, question_text
from atc.store.stored import StoredRun
from protocols.errors import AtcError

_ACT: Any = load_templates("atc.serve.view").get_template("act.html").module


@dataclass
class _ResumingRun:
    """One run that was continued from the page."""

    thread: threading.Thread | None = None
    question: Question | None = None
    """The open question."""
    number: int = 0
    """Number of the open question, which an answer must name."""
    answer: bool | None = None
    failed: str = ""
    """Why the run could not continue."""


class Resumes:
    """All runs that were continued from the page.

    `resume` continues a run. `person` is True if the viewer was started on a terminal; otherwise no
    run is continued. `version` changes whenever there is something new to show.
    """

    def __init__(self, resume: Callable[..., object], *, person: bool = True) -> None:
        self._resume = resume
        self._person = person
        self._runs: dict[str, _ResumingRun] = {}
        self._changed = threading.Condition()
        self._numbers = itertools.count(1)
        self._closed = False
        self.version = 0

    def start(self, run: str, *, accept_orphans: bool = False, resend: bool = False) -> bool:
        """Continue a run; return False if it is running already, or if there is no person."""
        with self._changed:
            known = self._runs.get(run)
            if not self._person or self._closed or (known is not None and known.thread is not None):
                return False
            resumed = self._runs[run] = _ResumingRun()
            options = {"accept_orphans": accept_orphans, "resend": resend}
            resumed.thread = threading.Thread(
                target=self._work, args=(run, resumed), kwargs=options, daemon=True
            )
            self._announce()
        resumed.thread.start()
        return True

    def answer(self, run: str, number: int, *, allow: bool) -> bool:
        """Allow or refuse the call of question `number`; return False if it is not open."""
        with self._changed:
            resumed = self._runs.get(run)
            if resumed is None or resumed.question is None or resumed.answer is not None:
                return False
            if resumed.number != number:
                return False
            resumed.answer = allow
            self._announce()
            return True

    def close(self, *, patience: float = 3.0) -> None:
        """End open questions without an answer, which pauses their runs, and wait for the threads.

        Each thread has `patience` seconds to end.
        """
        with self._changed:
            self._closed = True
            self._announce()
        for resumed in list(self._runs.values()):
            if resumed.thread is not None:
                resumed.thread.join(patience)

    def show(self, stored: StoredRun) -> Markup:
        """Return the markup for answering the open question of a run, or for continuing it."""
        with self._changed:
            resumed = self._runs.get(stored.summary.run_id) or _ResumingRun()
            question = resumed.question
            number = resumed.number
            failed = resumed.failed
            thread = resumed.thread
        if question is not None:
            text = question_text(question)
            return escape(_ACT.question(stored.summary.run_id, number, question, text))
        ways = _resume_buttons(stored, person=self._person) if thread is None else ""
        return escape((_ACT.failed(failed) if failed else "") + ways)

    def _work(self, run: str, resumed: _ResumingRun, **options: bool) -> None:
        """Continue a run in this thread, and store why it failed."""
        failed = ""
        try:
            self._resume(run, ask_person=lambda question: self._ask(resumed, question), **options)
        except AtcError as error:
            failed = str(error)
        except Exception as error:  # noqa: BLE001 - every failure is shown on the page
            failed = f"Going on failed: {type(error).__name__}: {error}"
        with self._changed:
            resumed.thread = None
            resumed.question = None
            resumed.failed = failed
            self._announce()

    def _ask(self, resumed: _ResumingRun, question: Question) -> bool | None:
        """Ask on the page and wait for the answer. (An `AskPerson`.)"""
        with self._changed:
            resumed.question = question
            resumed.number = next(self._numbers)
            resumed.answer = None
            self._announce()
            self._changed.wait_for(lambda: resumed.answer is not None or self._closed)
            resumed.question = None
            self._announce()
            return resumed.answer

    def _announce(self) -> None:
        """Wake up all waiting threads, and make open pages reload."""
        self.version += 1
        self._changed.notify_all()


def _resume_buttons(stored: StoredRun, *, person: bool) -> Markup:
    """Return a button for each way to continue a run that has stopped, and why it has stopped.

    Without a `person` there are no buttons.
    """
    run = stored.summary
    if run.status not in ("paused", "interrupted", "error"):
        return NOTHING
    last = stored.attempts[-1] if stored.attempts else None
    doubtful = any(one.call.outcome == "unknown" for one in stored.calls)
    orphans = run.status == "paused" and last is not None and not last.paused
    return escape(_ACT.ways_on(run, _explain_stop(stored), doubtful, orphans, person))


def _explain_stop(stored: StoredRun) -> str:
    """Return the sentence that says why a run has stopped."""
    if stored.summary.status == "interrupted":
        return "Its process ended before it was done."
    if stored.summary.status == "error":
        return "Something on our side failed."
    last = stored.attempts[-1] if stored.attempts else None
    if last is not None and last.paused and last.trace is not None and last.trace.failure:
        return last.trace.failure.message
    return "Writes are left that the final program does not make."
