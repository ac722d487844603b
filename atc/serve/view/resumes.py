"""Continuing stopped runs from a page of the viewer.

Each run is continued in a thread. Its questions about calls are shown and answered on the page.
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
    """State of a run that was continued from its page."""

    thread: threading.Thread | None = None
    """The thread in which it runs; None when that has ended."""
    question: Question | None = None
    """The question that waits for an answer, if any."""
    number: int = 0
    """Number of that question. An answer must have the same number."""
    answer: bool | None = None
    """The person's answer to that question; None until it is given."""
    failed: str = ""
    """The message of the error that ended the run; empty if there was none."""


class Resumes:
    """Continues runs when a person asks for it on their pages.

    The function `resume` continues a run, and blocks until it ends. `person` is True if the viewer
    was started on a terminal; otherwise no run can be continued. `version` is a number that
    changes whenever there is something new to show.
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
        """Begin to continue a run in a thread. The options are those of `Agent.resume`.

        Return False if the run is running already, or if runs cannot be continued here.
        """
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
        """Answer the question `number` of a run: allow or refuse its call.

        Return False if the question does not wait for an answer.
        """
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

        It waits up to `patience` seconds for each thread.
        """
        with self._changed:
            self._closed = True
            self._announce()
        for resumed in list(self._runs.values()):
            if resumed.thread is not None:
                resumed.thread.join(patience)

    def show(self, stored: StoredRun) -> Markup:
        """Return the HTML of the part of a run's page that needs a person.

        It contains the run's open question with buttons to answer it, or else buttons to continue
        the run.
        """
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
        """Continue a run in the current thread. If it fails, store the message for the page."""
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
        """Show a question on the page of a run, wait for the answer and return it.

        Return None if the viewer is closed before an answer. The run calls this method as its
        `AskPerson` function.
        """
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
    """Return HTML that says why a run has stopped, with a button for each way to continue the run.

    If `person` is False, the run cannot be continued here, and there are no buttons. If the run has
    not stopped, return empty HTML.
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
