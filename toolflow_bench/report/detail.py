"""One answer of one run, opened: what was said, why it counts as it does, the programs, the calls and the faults."""

from __future__ import annotations

import json
from collections.abc import Sequence

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.metrics import Row
from toolflow_bench.report.comparison import marker
from toolflow_bench.report.cutting import Budget, bytes_of
from toolflow_bench.report.failures import NAMES, outcome
from toolflow_bench.report.formats import counted, dollars, seconds
from toolflow_bench.report.markup import Html, join, tag, text
from toolflow_bench.report.runs import Run

_LONGEST_ANSWER, _LONGEST_SENTENCE, _LONGEST_PROGRAM, _LONGEST_CALL, _LONGEST_STATE = 4_000, 600, 12_000, 600, 4_000
_CALL_MARKUP = 120  # characters around a call, which count too where there are thousands
_LONGEST_NAME = 100  # of a tool: a program may have made it up
_FEW_CALLS = 12  # are shown at once
_MARKS = {"right": "✓", "wrong": "✕", "outage": "!"}


def verdict(row: Row) -> str:
    """`right`, `wrong` or `outage`."""
    return "outage" if not row.graded else "right" if row.correct else "wrong"


def answer(run: Run, row: Row, budget: Budget, *, repeats: int = 1) -> Html:
    """The section of one answer; the program that answered comes first, then calls, faults and earlier programs."""
    said = verdict(row)
    heading = [
        marker(run),
        tag("span", run.name, class_="name"),
        tag("span", _MARKS[said], " ", said, class_=f"verdict {said}"),
    ]
    if said == "wrong":
        heading.append(tag("span", NAMES[outcome(row)], class_="class"))
    if repeats > 1:
        heading.append(tag("span", f"repeat {row.repeat + 1}", class_="class"))
    parts = [tag("h4", *heading), _result(row, budget), _figures(row)]
    if row.programs:
        last = len(row.programs) - 1
        parts.append(_program(f"Program of attempt {last + 1}" if last else "Program", row, last, budget, opened=True))
    if row.faults:
        faults = [_fault(fault, budget) for fault in row.faults]
        parts.append(tag("details", tag("summary", counted(len(faults), "fault")), tag("ul", *faults), open=True))
    if row.made:
        parts.append(_calls(row, budget))
    parts += [_program(f"Program of attempt {index + 1}", row, index, budget) for index in range(len(row.programs) - 1)]
    if row.state:
        state = tag("pre", budget.cut(spelt(row.state, indent=1), _LONGEST_STATE), class_="text")
        parts.append(tag("details", tag("summary", "State that the writes left"), state))
    return tag("section", *parts, class_=f"answer {said}")


def wanted(row: Row) -> int:
    """About how many bytes the texts of an answer take, were they shown whole."""
    calls = sum(_CALL_MARKUP + bytes_of(spelt(call.get("arguments")) + spelt(call.get("error"))) for call in row.made)
    told = sum(bytes_of(spelt(one.get("message"))) for one in (*row.faults, *row.findings))
    texts = (row.answer or "", row.reason, *row.programs)
    return calls + told + sum(map(bytes_of, texts))


def spelt(value: Json, *, indent: int | None = None) -> str:
    """A JSON value as text; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr, indent=indent)


def _result(row: Row, budget: Budget) -> Html:
    if not row.graded:
        kind = "Our side failed" if row.status == "outage" else "The bench failed"
        error = budget.cut(row.error or "nothing is known of it", _LONGEST_SENTENCE)
        return tag("dl", tag("dt", kind), tag("dd", error, class_="said"))
    given = tag("em", "none") if row.answer is None else budget.cut(row.answer, _LONGEST_ANSWER)
    entries = [tag("dt", "Answer"), tag("dd", given, class_="said")]
    if row.reason:
        entries += [tag("dt", "Graded"), tag("dd", budget.cut(row.reason, _LONGEST_SENTENCE))]
    if row.limit:
        entries += [tag("dt", "Ended by"), tag("dd", budget.cut(row.limit, _LONGEST_SENTENCE))]
    return tag("dl", *entries)


def _figures(row: Row) -> Html:
    """What the answer took, on one line."""
    parts = [
        counted(row.calls, "call"),
        counted(row.model_calls, "model call"),
        counted(row.repairs, "repair"),
        f"{row.input_tokens:,} tokens in, {row.output_tokens:,} out",
        seconds(row.seconds) + (f" ({seconds(row.model_seconds)} model)" if row.model_calls else ""),
    ]
    if row.cost is not None:
        parts.append(dollars(row.cost))
    for name, share in (("path", row.path), ("precision", row.precision)):
        if share is not None:
            parts.append(f"{name} {100 * share:.0f}%")
    if row.cp is not None:
        parts.append("correct path" if row.cp else "not the correct path")
    for name, count in (("repeated", row.repeated_writes), ("orphaned", row.orphaned_writes)):
        if count:
            parts.append(counted(count, f"{name} write"))
    spans: list[Html] = [tag("span", part) for part in parts]
    if row.run:
        spans.append(tag("span", "stored: ", tag("code", f"atc runs show {row.run}")))
    return tag("p", *spans, class_="took")


def _program(title: str, row: Row, index: int, budget: Budget, *, opened: bool = False) -> Html:
    """A program with its line numbers; those that a fault or finding names are marked."""
    source = row.programs[index].rstrip("\n")
    blamed = {one.get("line") for one in (*row.faults, *row.findings) if one.get("attempt") == index}
    shown = budget.cut(source, _LONGEST_PROGRAM)
    numbers = [tag("b", str(line)) if line in blamed else text(str(line)) for line in range(1, shown.count("\n") + 2)]
    gutter = tag("pre", join(numbers, "\n"), class_="gutter", aria_hidden="true")
    code = tag("div", gutter, tag("pre", tag("code", shown), tabindex=0), class_="program")
    found = [_finding(finding, budget) for finding in row.findings if finding.get("attempt") == index]
    checked = tag("ul", *found, class_="findings") if found else Html()
    return tag("details", tag("summary", title), code, checked, open=opened)


def _finding(finding: JsonObject, budget: Budget) -> Html:
    how = "Mended before it ran" if finding.get("mended") else "Found by the check"
    message = budget.cut(spelt(finding.get("message", "")), _LONGEST_SENTENCE)
    return tag("li", f"{how}, {_line(finding)}: ", message)


def _fault(fault: JsonObject, budget: Budget) -> Html:
    where = [_line(fault)] if fault.get("line") is not None else []
    attempt = fault.get("attempt")
    if isinstance(attempt, int):
        where.insert(0, f"attempt {attempt + 1}")
    if fault.get("tool"):
        where.append(spelt(fault["tool"])[:_LONGEST_NAME])
    kind = tag("span", spelt(fault.get("kind", "fault")), class_="class")
    place = tag("small", ", ".join(where)) if where else Html()
    return tag("li", kind, " ", budget.cut(spelt(fault.get("message", "")), _LONGEST_SENTENCE), " ", place)


def _line(entry: JsonObject) -> str:
    return f"line {spelt(entry.get('line'))}"


def _calls(row: Row, budget: Budget) -> Html:
    """The calls of all attempts in order, as many as the budget holds."""
    rows: list[Html] = []
    attempts = len({call.get("attempt") for call in row.made})
    for number, call in enumerate(row.made, 1):
        if budget.left < _CALL_MARKUP:
            rest = f"{counted(len(row.made) - number + 1, 'more call')}, in the file of rows"
            rows.append(tag("tr", tag("td", tag("span", rest, class_="cut"), colspan=4)))
            break
        budget.left -= _CALL_MARKUP
        rows.append(_call(number, call, budget, of_attempt=attempts > 1))
    sent = sum(not call.get("reused") and call.get("outcome") != "not_run" for call in row.made)
    table = tag("table", tag("tbody", *rows), class_="calls")
    title = counted(len(row.made), "call") + (f", {sent:,} sent" if sent != len(row.made) else "")
    return tag("details", tag("summary", title), table, open=len(row.made) <= _FEW_CALLS)


def _call(number: int, call: JsonObject, budget: Budget, *, of_attempt: bool) -> Html:
    arguments = call.get("arguments")
    given = (
        ", ".join(f"{key}={spelt_argument(value)}" for key, value in arguments.items())
        if isinstance(arguments, dict)
        else ""
    )
    attempt = call.get("attempt")
    written = f"{attempt + 1}.{number}" if of_attempt and isinstance(attempt, int) else str(number)
    name = tag("b", budget.cut(spelt(call.get("tool", "?")), _LONGEST_NAME))
    made = tag("code", name, "(", budget.cut(given, _LONGEST_CALL), ")")
    error = (
        tag("small", budget.cut(spelt(call["error"]), _LONGEST_SENTENCE), class_="error")
        if call.get("error")
        else Html()
    )
    outcome = spelt(call.get("outcome", "done"))
    status = call.get("status")
    happened = outcome if status is None else f"{outcome}, {spelt(status)}"
    took = call.get("seconds")
    when = "from the journal" if call.get("reused") else seconds(took) if isinstance(took, int | float) else ""
    bad = None if outcome == "done" and not call.get("error") else "bad"
    return tag("tr", tag("td", written), tag("td", made, error), tag("td", happened), tag("td", when), class_=bad)


def spelt_argument(value: Json) -> str:
    """An argument as a program would write it, strings in quotes."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def chips(rows: Sequence[Row]) -> tuple[str, str]:
    """The verdict over a task's repeats (`mixed` where they differ) and its mark, `2/3` where there are several."""
    graded = [row for row in rows if row.graded]
    if not rows:
        return "absent", "·"
    if not graded:
        return "outage", _MARKS["outage"]
    right = sum(row.correct for row in graded)
    found = "right" if right == len(graded) else "mixed" if right else "wrong"
    return found, _MARKS[found] if len(graded) == 1 else f"{right}/{len(graded)}"
