"""One answer of one run, opened: what was said, why it counts as it does, the programs, the calls and the faults.

Long texts are cut; whoever wants all of one reads the file of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from atc.pages.formats import counted, dollars, seconds, size
from atc.pages.markup import Html, join, tag, text
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.metrics import Row
from toolflow_bench.report.failures import CLASSES, outcome
from toolflow_bench.report.runs import Run

_PAGE = 5_000_000  # bytes of foreign text in all; the markup around it comes to about half as much
_LEAST, _MOST = 1_500, 60_000
_LONGEST_ANSWER, _LONGEST_SENTENCE, _LONGEST_PROGRAM, _LONGEST_CALL, _LONGEST_STATE = 4_000, 600, 12_000, 600, 4_000
_CALL_MARKUP = 120  # characters around a call, which count too where there are thousands
_LONGEST_NAME = 100  # of a tool: a program may have made it up
_FEW_CALLS = 12  # are shown at once
_MARKS = {"right": "✓", "wrong": "✕", "outage": "!"}


class Budget:
    """How many bytes of the page one task's or one answer's texts may still take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def cut(self, value: Json, most: int) -> Html:
        """As much of `value` as `most` bytes and the budget allow, with a note of what is missing."""
        whole = spelt(value)
        room = max(min(most, self.left), 0)
        kept = min(len(whole), room)
        while (taken := bytes_of(whole[:kept])) > room:
            kept = min(kept - 1, kept * room // taken)
        self.left -= taken
        if kept == len(whole):
            return text(whole)
        note = tag("span", f"… {size(len(whole) - kept)} more, in the file of rows", class_="cut")
        return join([text(whole[:kept]), note])


def level(wanted: Iterable[int]) -> int:
    """The most that one budget may be so that all together fill a page: what short texts leave, long ones get."""
    sizes = sorted(wanted)
    left = _PAGE
    for index, size_ in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size_ > share:
            return min(max(share, _LEAST), _MOST)
        left -= size_
    return _MOST


def bytes_of(value: str) -> int:
    """What `value` takes as text of a page."""
    return len(text(value).encode())


def wanted(row: Row) -> int:
    """About how many bytes the texts of an answer take, were they shown whole."""
    calls = sum(_CALL_MARKUP + bytes_of(spelt(call.get("arguments")) + spelt(call.get("error"))) for call in row.made)
    told = sum(bytes_of(spelt(one.get("message"))) for one in (*row.faults, *row.findings))
    return calls + told + sum(map(bytes_of, (row.answer or "", row.reason, *row.programs)))


def spelt(value: Json, *, indent: int | None = None) -> str:
    """A JSON value as text; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr, indent=indent)


def verdict(row: Row) -> str:
    """`right`, `wrong` or `outage`."""
    return "outage" if not row.graded else "right" if row.correct else "wrong"


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


def answer(run: Run, row: Row, budget: Budget, *, repeats: int = 1) -> Html:
    """The section of one answer; the program that answered comes first, then calls, faults and earlier programs."""
    said, last = verdict(row), len(row.programs) - 1
    name = tag("span", run.name, class_="name")
    heading = [run.mark, name, tag("span", _MARKS[said], " ", said, class_=f"verdict {said}")]
    if said == "wrong":
        heading.append(tag("span", CLASSES[outcome(row)][0], class_="class"))
    if repeats > 1:
        heading.append(tag("span", f"repeat {row.repeat + 1}", class_="class"))
    parts = [tag("h4", *heading), _result(row, budget), _figures(row)]
    if row.programs:
        parts.append(_program(f"Program of attempt {last + 1}" if last else "Program", row, last, budget, opened=True))
    if row.faults:
        faults = tag("ul", *(_fault(fault, budget) for fault in row.faults))
        parts.append(tag("details", tag("summary", counted(len(row.faults), "fault")), faults, open=True))
    if row.made:
        parts.append(_calls(row, budget))
    parts += [_program(f"Program of attempt {index + 1}", row, index, budget) for index in range(last)]
    if row.state:
        state = tag("pre", budget.cut(spelt(row.state, indent=1), _LONGEST_STATE), class_="text")
        parts.append(tag("details", tag("summary", "State that the writes left"), state))
    return tag("section", *parts, class_=f"answer {said}")


def _result(row: Row, budget: Budget) -> Html:
    if not row.graded:
        kind = "Our side failed" if row.status == "outage" else "The bench failed"
        error = budget.cut(row.error or "nothing is known of it", _LONGEST_SENTENCE)
        return tag("dl", tag("dt", kind), tag("dd", error, class_="said"))
    given = tag("em", "none") if row.answer is None else budget.cut(row.answer, _LONGEST_ANSWER)
    entries = [tag("dt", "Answer"), tag("dd", given, class_="said")]
    for name, told in (("Graded", row.reason), ("Ended by", row.limit)):
        entries += [tag("dt", name), tag("dd", budget.cut(told, _LONGEST_SENTENCE))] if told else []
    return tag("dl", *entries)


def _figures(row: Row) -> Html:
    """What the answer took, on one line."""
    parts = [
        counted(row.calls, "call"),
        counted(row.model_calls, "model call"),
        counted(row.repairs, "repair"),
        f"{row.input_tokens:,} tokens in, {row.output_tokens:,} out",
        seconds(row.seconds) + (f" ({seconds(row.model_seconds)} model)" if row.model_calls else ""),
        *([dollars(row.cost)] if row.cost is not None else []),
    ]
    shares = {"path": row.path, "precision": row.precision}
    parts += [f"{name} {100 * share:.0f}%" for name, share in shares.items() if share is not None]
    if row.cp is not None:
        parts.append("correct path" if row.cp else "not the correct path")
    writes = {"repeated": row.repeated_writes, "orphaned": row.orphaned_writes}
    parts += [counted(count, f"{name} write") for name, count in writes.items() if count]
    spans = [tag("span", part) for part in parts]
    if row.run:
        spans.append(tag("span", "stored: ", tag("code", f"atc runs show {row.run}")))
    return tag("p", *spans, class_="took")


def _program(title: str, row: Row, index: int, budget: Budget, *, opened: bool = False) -> Html:
    """A program with its line numbers; those that a fault or finding names are marked."""
    source = row.programs[index].rstrip("\n")
    findings = [one for one in row.findings if one.get("attempt") == index]
    blamed = {one.get("line") for one in (*row.faults, *findings) if one.get("attempt") == index}
    shown = budget.cut(source, _LONGEST_PROGRAM)
    numbers = [tag("b", str(line)) if line in blamed else text(str(line)) for line in range(1, shown.count("\n") + 2)]
    gutter = tag("pre", join(numbers, "\n"), class_="gutter", aria_hidden="true")
    code = tag("div", gutter, tag("pre", tag("code", shown), tabindex=0), class_="program")
    checked = tag("ul", *(_finding(one, budget) for one in findings), class_="findings") if findings else Html()
    return tag("details", tag("summary", title), code, checked, open=opened)


def _finding(finding: JsonObject, budget: Budget) -> Html:
    how = "Mended before it ran" if finding.get("mended") else "Found by the check"
    message = budget.cut(finding.get("message", ""), _LONGEST_SENTENCE)
    return tag("li", f"{how}, line {spelt(finding.get('line'))}: ", message)


def _fault(fault: JsonObject, budget: Budget) -> Html:
    attempt, line = fault.get("attempt"), fault.get("line")
    where = [
        *([f"attempt {attempt + 1}"] if isinstance(attempt, int) else []),
        *([f"line {spelt(line)}"] if line is not None else []),
        *([spelt(fault["tool"])[:_LONGEST_NAME]] if fault.get("tool") else []),
    ]
    kind = tag("span", spelt(fault.get("kind", "fault")), class_="class")
    place = tag("small", ", ".join(where)) if where else Html()
    return tag("li", kind, " ", budget.cut(fault.get("message", ""), _LONGEST_SENTENCE), " ", place)


def _calls(row: Row, budget: Budget) -> Html:
    """The calls of all attempts in order, as many as the budget holds."""
    rows: list[Html] = []
    several = len({call.get("attempt") for call in row.made}) > 1
    for number, call in enumerate(row.made, 1):
        if budget.left < _CALL_MARKUP:
            rest = f"{counted(len(row.made) - number + 1, 'more call')}, in the file of rows"
            rows.append(tag("tr", tag("td", tag("span", rest, class_="cut"), colspan=4)))
            break
        budget.left -= _CALL_MARKUP
        attempt = call.get("attempt")
        rows.append(
            _call(f"{attempt + 1}.{number}" if several and isinstance(attempt, int) else str(number), call, budget)
        )
    sent = sum(not call.get("reused") and call.get("outcome") != "not_run" for call in row.made)
    table = tag("table", tag("tbody", *rows), class_="calls")
    title = counted(len(row.made), "call") + (f", {sent:,} sent" if sent != len(row.made) else "")
    return tag("details", tag("summary", title), table, open=len(row.made) <= _FEW_CALLS)


def _call(number: str, call: JsonObject, budget: Budget) -> Html:
    arguments, status, took = call.get("arguments"), call.get("status"), call.get("seconds")
    pairs = arguments.items() if isinstance(arguments, dict) else ()
    given = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False, default=repr)}" for key, value in pairs)
    name = tag("b", budget.cut(call.get("tool", "?"), _LONGEST_NAME))
    made = tag("code", name, "(", budget.cut(given, _LONGEST_CALL), ")")
    error = Html()
    if call.get("error"):
        error = tag("small", budget.cut(call["error"], _LONGEST_SENTENCE), class_="error")
    outcome_ = spelt(call.get("outcome", "done"))
    happened = outcome_ if status is None else f"{outcome_}, {spelt(status)}"
    when = "from the journal" if call.get("reused") else seconds(took) if isinstance(took, int | float) else ""
    bad = None if outcome_ == "done" and not call.get("error") else "bad"
    return tag("tr", tag("td", number), tag("td", made, error), tag("td", happened), tag("td", when), class_=bad)
