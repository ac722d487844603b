"""Runs that a person continues from the page. Each runs in a thread whose questions are answered on
the page.
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
    """One run that was continued from the page. `number` is that of its open question; an answer
    must name it.
    """

    thread: threading.Thread | None = None
    question: Question | None = None
    number: int = 0
    answer: bool | None = None
    failed: str = ""


class Resumes:
    """All runs that were continued from the page. `version` changes whenever there is something new
    to show.

    `resume` continues a run. `person` is True if the viewer was started on a terminal; without one
    no run is continued.
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
        """Continue a run; return False if it is under way already, or if no person is known to be
        there.
        """
        with self._changed:
            known = self._runs.get(run)
            if not self._person or self._closed or (known is not None and known.thread is not None):
                return False
            going = self._runs[run] = _ResumingRun()
            how = {"accept_orphans": accept_orphans, "resend": resend}
            going.thread = threading.Thread(
                target=self._work, args=(run, going), kwargs=how, daemon=True
            )
            self._tell()
        going.thread.start()
        return True

    def answer(self, run: str, number: int, *, allow: bool) -> bool:
        """Allow or refuse the call of question `number`; return False if that is not the open
        question.
        """
        with self._changed:
            going = self._runs.get(run)
            if (
                going is None
                or going.question is None
                or going.number != number
                or going.answer is not None
            ):
                return False
            going.answer = allow
            self._tell()
            return True

    def close(self, *, patience: float = 3.0) -> None:
        """End open questions without an answer, so that their runs are paused, and give the threads
        a moment to end.
        """
        with self._changed:
            self._closed = True
            self._tell()
        for going in list(self._runs.values()):
            if going.thread is not None:
                going.thread.join(patience)

    def show(self, stored: StoredRun) -> Markup:
        """Return the markup of what can be done with a run now: answer its question, or continue
        it.
        """
        with self._changed:
            going = self._runs.get(stored.summary.run_id) or _ResumingRun()
            question = going.question
            number = going.number
            failed = going.failed
            thread = going.thread
        if question is not None:
            return escape(
                _ACT.question(stored.summary.run_id, number, question, question_text(question))
            )
        ways = _resume_buttons(stored, person=self._person) if thread is None else ""
        return escape((_ACT.failed(failed) if failed else "") + ways)

    def _work(self, run: str, going: _ResumingRun, **how: bool) -> None:
        failed = ""
        try:
            self._resume(run, ask_person=lambda question: self._ask(going, question), **how)
        except AtcError as error:
            failed = str(error)
        except Exception as error:  # noqa: BLE001 - the page is all that somebody sees of it
            failed = f"Going on failed: {type(error).__name__}: {error}"
        with self._changed:
            going.thread = None
            going.question = None
            going.failed = failed
            self._tell()

    def _ask(self, going: _ResumingRun, question: Question) -> bool | None:
        """Wait for the answer on the page. This is an `AskPerson`."""
        with self._changed:
            going.question = question
            going.number = next(self._numbers)
            going.answer = None
            self._tell()
            self._changed.wait_for(lambda: going.answer is not None or self._closed)
            going.question = None
            self._tell()
            return going.answer

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()


def _resume_buttons(stored: StoredRun, *, person: bool) -> Markup:
    """Return a button for each way to continue a run that stands still; without a `person` only why
    it stands.
    """
    run = stored.summary
    if run.status not in ("paused", "interrupted", "error"):
        return NOTHING
    why = {
        "interrupted": "Its process ended before it was done.",
        "error": "Something on our side failed.",
    }
    said = why.get(run.status, "Writes are left that the final program does not make.")
    last = stored.attempts[-1] if stored.attempts else None
    if (
        run.status == "paused"
        and last is not None
        and last.paused
        and last.trace is not None
        and last.trace.failure
    ):
        said = last.trace.failure.message
    doubtful = any(one.call.outcome == "unknown" for one in stored.calls)
    left = run.status == "paused" and last is not None and not last.paused
    return escape(_ACT.ways_on(run, said, doubtful, left, person))
