"""The page of one run, in parts: each has an id, so that a page that is open can be given what has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from atc.models.prices import Price, price_of
from atc.pages.document import document
from atc.pages.formats import counted, dollars, seconds
from atc.pages.markup import Html, join, tag, text
from atc.serve.view.calls import Shown, cut, cut_short, waterfall
from atc.serve.view.provenance import provenance
from atc.serve.view.source import change, program
from atc.store.stored import Exchange, StoredRun
from atc.types import Attempt, Fault
from sandbox.trace import ToolCall

PACKAGE = "atc.serve.view"
MADE_BY = "atc runs view"
_TEXTS = 3_000_000
"""Characters of arguments and responses that a page shows in all."""
_LEAST, _MOST = 300, 30_000
_LONGEST_TEXT, _LONGEST_PROMPT = 20_000, 12_000
_FEW_TOOLS = 40

Parts = Mapping[str, Html]
"""By id, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A program with the calls that it made, also while it runs."""

    attempt: Attempt
    calls: tuple[Shown, ...]
    seconds: float
    running: bool = False


def when(moment: float) -> str:
    """`2026-11-26 10:42`, local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def chip(status: str) -> Html:
    """The label of a run's status."""
    return tag("span", status, class_=f"class status {status}")


def page(stored: StoredRun, *, act: Html = Html(), live: str = "") -> str:  # noqa: B008 - frozen
    """The page of a run whose secrets are placeholders. `act` is what can be done, `live` where changes are told."""
    run = stored.summary
    back = tag("a", "All runs", href="../", class_="back") if live else Html()
    head = tag("header", tag("p", "atc runs view", back, class_="kicker"))
    shown = parts(stored, act)
    body = tag("div", *shown.values(), id="parts", data_events=f"{live}?seen={digest(shown)}" if live else None)
    title = f"{cut_short(run.task or 'A program', 70)} · {run.status}"
    said = tag("p", id="said", class_="sr", aria_live="polite")
    return document(
        join([head, body, said, _KEYS], "\n"), title=title, made_by=MADE_BY, package=PACKAGE, skip="attempts",
        live=bool(live),
    )  # fmt: skip


_KEYS = tag(
    "p", tag("kbd", "j"), " ", tag("kbd", "k"), " next and previous call · ", tag("kbd", "e"), " open or fold all",
    class_="keys note",
)  # fmt: skip


def parts(stored: StoredRun, act: Html = Html()) -> Parts:  # noqa: B008 - frozen
    """All parts of the page."""
    executions = _executions(stored)
    total = sum(len(one.calls) for one in executions) or 1
    room = max(_LEAST, min(_MOST, _TEXTS // total))
    found = {
        "head": _head(stored, executions),
        "act": tag("section", act, aria_label="What you can do") if act else Html(),
        "tools": _tools(stored, executions),
        "attempts": tag("h2", "Attempts" if executions else "No program is written yet."),
    }
    for number, one in enumerate(executions):
        before = executions[number - 1].attempt if number else None
        found[f"attempt-{number + 1}"] = _attempt(number, one, before, stored.summary.task, room)
    found["model"] = _model(stored.exchanges)
    return {name: tag("div", part, id=name, class_="part") for name, part in found.items()}


def digest(shown: Parts) -> str:
    """What tells a page that has these parts from one that has others."""
    return sha256("".join(shown.values()).encode()).hexdigest()[:32]


def status_line(stored: StoredRun) -> str:
    """What is said aloud of a run as it goes on."""
    return f"{stored.summary.status}, {counted(len(stored.attempts), 'attempt')}, {counted(len(stored.calls), 'call')}"


def _executions(stored: StoredRun) -> list[Execution]:
    """The attempts, and at their end the calls of an execution that has not ended."""
    writes = {alias for alias, protocol in stored.protocols.items() if protocol.writes}
    running = stored.summary.status == "running"

    def shown(call: ToolCall, *, complete: bool = True) -> Shown:
        return Shown(call, call.tool in writes, "" if complete else "running" if running else "no outcome recorded")

    found = [
        Execution(attempt, tuple(map(shown, attempt.calls)), attempt.trace.seconds if attempt.trace else 0.0)
        for attempt in stored.attempts
    ]
    left = stored.unfinished
    last = max((one.execution for one in left), default=-1)
    open_ = tuple(shown(one.call, complete=one.complete) for one in left if one.execution == last)
    if found and (waiting := found[-1].attempt).trace is None and waiting.fault is None and not waiting.findings:
        found[-1] = Execution(waiting, open_, 0.0, running)
    return found


def _head(stored: StoredRun, executions: Sequence[Execution]) -> Html:
    run, usage = stored.summary, stored.usage
    task = run.task or "A program that its caller wrote"
    heading = tag("h1", cut_short(task, 160))
    whole = tag("p", cut(task, _LONGEST_TEXT), class_="said") if len(task) > 160 or "\n" in task else Html()
    took = max((run.ended or time.time()) - run.created, 0.0)
    calls = [one.call for execution in executions for one in execution.calls]
    made = sum(not call.reused and call.outcome != "not_run" for call in calls)
    repairs = max((attempt.round for attempt in stored.attempts), default=0)
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    facts = {
        "Run": run.id,
        "Begun": when(run.created),
        "Took": f"{seconds(took)}, {seconds(usage.model_seconds)} of it the model" if run.ended else seconds(took),
        "Model": run.model or "–",
        "Tokens": f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out",
        "Cost": dollars(cost(stored)),
        "Calls": f"{made:,}" + (f", {len(calls) - made:,} from the journal or not sent" if made < len(calls) else ""),
        "Repairs": str(repairs),
        "Strategy": run.strategy or "–",
        "Sandbox": next((a.trace.backend for a in stored.attempts[::-1] if a.trace), run.sandbox) or "–",
    }
    told = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()]
    rest = [tag("p", note, class_="beware") for note in stored.notes]
    if run.error is not None:
        rest.append(tag("p", run.error, class_="beware"))
    answer = Html()
    if run.answer is not None:
        label = "Answer" if run.status == "solved" else "It would answer"
        answer = tag("div", tag("h2", label), tag("pre", cut(run.answer, _LONGEST_TEXT), class_="said", tabindex=0),
                     class_=f"result {run.status}")  # fmt: skip
    return join([tag("p", chip(run.status)), heading, whole, answer, tag("dl", *told, class_="facts"), *rest])


def cost(stored: StoredRun) -> float | None:
    """US dollars that the model took; None where its price is not known."""
    given = stored.config.get("model_price")
    price = Price(*given) if isinstance(given, list | tuple) and len(given) == 2 else price_of(stored.summary.model)
    if price is None:
        return 0.0 if not stored.usage.model_calls else None
    return price.of(stored.usage.input_tokens, stored.usage.output_tokens)


def _tools(stored: StoredRun, executions: Sequence[Execution]) -> Html:
    called = {one.call.tool for execution in executions for one in execution.calls}
    if not stored.tools:
        return Html()
    first = sorted(stored.tools, key=lambda alias: alias not in called)
    chips = [
        tag("li", tag("code", cut_short(alias, 80)), tag("span", " called", class_="sr") if alias in called else Html(),
            class_="called" if alias in called else None)
        for alias in first
    ]  # fmt: skip
    shown = [tag("ul", *chips[:_FEW_TOOLS], class_="tools")]
    if len(chips) > _FEW_TOOLS:
        more = tag("ul", *chips[_FEW_TOOLS:], class_="tools")
        summary = tag("summary", f"{len(chips) - _FEW_TOOLS:,} more")
        shown.append(tag("details", summary, more, class_="more", data_key="tools"))
    said = f"{counted(len(chips), 'tool')} found, {len(called):,} called"
    return join([tag("h2", "Tools ", tag("small", said)), *shown])


def _attempt(number: int, one: Execution, before: Attempt | None, task: str, room: int) -> Html:
    attempt, prefix = one.attempt, f"a{number + 1}-"
    origins = provenance([shown.call for shown in one.calls], attempt.program.source, task)
    label = f"Program of attempt {number + 1}"
    heading = [text(f"Attempt {number + 1}"), *_marks(one)]
    inside = [tag("h3", *heading)]
    inside += [tag("p", f"Mended before it ran, line {f.line}: {f.message}", class_="note") for f in attempt.mended]
    source = attempt.program.source
    if before is not None and source and before.program.source and before.program != attempt.program:
        shown, added, removed = change(before.program.source, source, label=f"What attempt {number + 1} changed")
        summary = tag("summary", f"Changed: +{added} −{removed} lines")
        inside.append(tag("details", summary, shown, open=True, data_key=f"{prefix}change"))
    below, loose, bad = _said_of_lines(attempt, prefix)
    if source:
        whole = program(source, label=label, prefix=f"{prefix}line", beside=_beside(one, prefix), below=below, bad=bad)
        summary = tag("summary", f"Program, {counted(source.rstrip().count(chr(10)) + 1, 'line')}")
        inside.append(tag("details", summary, whole, open=True, data_key=f"{prefix}program"))
    inside += loose
    if one.calls:
        rows = waterfall(one.calls, origins, prefix=prefix, whole=one.seconds, room=room)
        used = sum(origin.call is not None for found in origins.values() for origin in found)
        told = f"{counted(len(one.calls), 'call')}" + (f", {seconds(one.seconds)}" if one.seconds else "")
        told += f", {counted(used, 'value')} from earlier responses" if used else ""
        inside.append(tag("details", tag("summary", told), rows, open=True, data_key=f"{prefix}calls"))
    if attempt.trace is not None and (printed := attempt.trace.stdout.rstrip()):
        output = tag("pre", cut(printed, _LONGEST_TEXT), class_="text", tabindex=0)
        inside.append(tag("details", tag("summary", "Printed"), output, open=True, data_key=f"{prefix}printed"))
    inside += [tag("p", f"Doubt: {doubt}", class_="beware") for doubt in attempt.doubts]
    return tag("section", *inside, class_="attempt", aria_label=f"Attempt {number + 1}")


def _marks(one: Execution) -> list[Html]:
    attempt = one.attempt
    marks = [tag("span", f"repair {attempt.round}", class_="class")] if attempt.round else []
    if one.running:
        return [*marks, chip("running")]
    if attempt.findings:
        return [*marks, tag("span", "not run: the check found something", class_="class failed")]
    if attempt.paused:
        return [*marks, chip("paused")]
    if attempt.fault is not None:
        return [*marks, tag("span", attempt.fault.kind.replace("_", " "), class_="class failed")]
    return [*marks, tag("span", "answered", class_="class done")] if attempt.trace is not None else marks


def _beside(one: Execution, prefix: str) -> dict[int, Html]:
    """By line, a link to the first call that it made, and how many they were."""
    by_line: dict[int, list[int]] = {}
    for shown in one.calls:
        by_line.setdefault(shown.call.line, []).append(shown.call.index)
    return {
        line: tag(
            "a",
            f"call {found[0]}" if len(found) == 1 else f"{len(found):,} calls",
            href=f"#{prefix}call{found[0]}",
            class_="calls-of",
        )
        for line, found in by_line.items()
    }


def _said_of_lines(attempt: Attempt, prefix: str) -> tuple[dict[int, list[Html]], list[Html], dict[int, str]]:
    """What stands below lines, what is of no line, and which lines are marked."""
    below: dict[int, list[Html]] = {}
    loose: list[Html] = []
    lines = attempt.program.source.count("\n") + 1
    bad: dict[int, str] = {}

    def place(line: int | None, part: Html, kind: str) -> None:
        if line is None or not attempt.program.source or not 0 < line <= lines:
            loose.append(part)
        else:
            below.setdefault(line, []).append(part)
            bad[line] = kind

    for finding in attempt.findings:
        told = tag("p", tag("b", finding.code), " ", finding.message, class_="why")
        place(finding.line, tag("div", told, class_="told"), "fault")
    failure = attempt.trace.failure if attempt.trace is not None else None
    if attempt.fault is not None:
        line = attempt.fault.line or (failure.line if failure is not None else None)
        place(line, _fault(attempt.fault, prefix, paused=attempt.paused), "pause" if attempt.paused else "fault")
    for earlier, later in pairwise(failure.frames if failure is not None else ()):
        if earlier.line != later.line and earlier.line not in bad and 0 < earlier.line <= lines:
            bad[earlier.line] = "led"
    return below, loose, bad


def _fault(fault: Fault, prefix: str, *, paused: bool) -> Html:
    blamed = Html()
    if fault.call is not None and not paused:
        link = tag("a", f"call {fault.call}", href=f"#{prefix}call{fault.call}")
        where = [" at ", tag("code", cut_short(fault.path, 200))] if fault.path else []
        blamed = tag("p", "Blamed: ", link, " ", tag("code", cut_short(fault.tool or "", 80)), *where, class_="took")
    facts = [tag("li", cut(fact.text, 2_000)) for fact in fault.evidence]
    return tag(
        "div",
        tag(
            "p",
            tag("b", "paused" if paused else fault.kind.replace("_", " ")),
            " ",
            cut(fault.message, 4_000),
            class_="why",
        ),
        blamed,
        tag("ul", *facts, class_="evidence") if facts else Html(),
        class_="told pause" if paused else "told",
        role="note",
    )


def _model(exchanges: Sequence[Exchange]) -> Html:
    if not exchanges:
        return Html()
    rows = [tag("li", *_exchange(number, one)) for number, one in enumerate(exchanges, start=1)]
    return join(
        [tag("h2", "Model ", tag("small", counted(len(exchanges), "request"))), tag("ol", *rows, class_="asked")]
    )


def _exchange(number: int, one: Exchange) -> Iterator[Html]:
    reply = one.reply
    took = "no reply yet"
    if reply is not None:
        took = f"{reply.input_tokens:,} tokens in, {reply.output_tokens:,} out, {seconds(reply.seconds)}"
    summary = tag("summary", tag("b", one.purpose), " ", tag("span", took, class_="took"))
    earlier = len(one.messages) - 1
    said = [
        tag("h4", "Prompt", tag("small", f"after {counted(earlier, 'earlier message')}") if earlier > 0 else Html())
    ]
    said += (
        [tag("pre", cut(one.messages[-1].content, _LONGEST_PROMPT), class_="text", tabindex=0)] if one.messages else []
    )
    if reply is not None:
        said += [tag("h4", "Reply"), tag("pre", cut(reply.text, _LONGEST_PROMPT), class_="text", tabindex=0)]
    yield tag("details", summary, *said, data_key=f"asked{number}")
