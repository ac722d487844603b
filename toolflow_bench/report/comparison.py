"""The table of runs, and the table of their differences from the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolflow_bench.compare import Comparison
from toolflow_bench.report.formats import MISSING, counted, dollars, interval, mean, percent, points, seconds, whole
from toolflow_bench.report.markup import Html, join, tag
from toolflow_bench.report.runs import Run
from toolflow_bench.resampling import Estimate


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of the table: its `value`, how it is spelt, and its `estimate` where it has an interval."""

    name: str
    group: str
    value: Callable[[Run], float | None]
    shown: Callable[[float | None], str]
    estimate: Callable[[Run], Estimate | None] | None = None


def _quality(name: str, estimate: Callable[[Run], Estimate | None]) -> Column:
    def value(run: Run) -> float | None:
        found = estimate(run)
        return None if found is None else found.mean

    return Column(name, "Share of tasks", value, percent, estimate)


COLUMNS = (
    _quality("Success", lambda run: run.summary.success),
    _quality("Path", lambda run: run.summary.path),
    _quality("Precision", lambda run: run.summary.precision),
    _quality("CP", lambda run: run.summary.cp),
    Column("Calls", "Mean a task", lambda run: run.a_task(run.summary.calls), mean),
    Column("Model calls", "Mean a task", lambda run: run.a_task(run.summary.model_calls), mean),
    Column("Repairs", "Mean a task", lambda run: run.a_task(run.summary.repairs), mean),
    Column("Tokens in", "Mean a task", lambda run: run.a_task(run.summary.input_tokens), mean),
    Column("Tokens out", "Mean a task", lambda run: run.a_task(run.summary.output_tokens), mean),
    Column("Time", "Mean a task", lambda run: run.a_task(run.summary.seconds_total), seconds),
    Column("Own time", "Mean a task", lambda run: run.a_task(run.summary.own_seconds_total), seconds),
    Column("Cost", "Mean a task", lambda run: run.cost, dollars),
    Column("Repeated writes", "In all", lambda run: run.summary.repeated_writes, whole),
    Column("Orphaned writes", "In all", lambda run: run.summary.orphaned_writes, whole),
    Column("Outages", "In all", lambda run: run.summary.outages + run.summary.crashes, whole),
)

_DIFFERENCES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("success", "Success", points),
    ("path", "Path", points),
    ("precision", "Precision", points),
    ("cp", "CP", points),
    ("calls", "Calls", lambda value: _signed(value, mean)),
    ("tokens", "Tokens", lambda value: _signed(value, mean)),
    ("seconds", "Time", lambda value: _signed(value, lambda size: f"{mean(size)} s")),
    ("cost", "Cost", lambda value: _signed(value, lambda size: dollars(size, digits=2))),
)
_MEANINGS = (
    (
        "Success",
        "graded right by program: typed values with their tolerance, order where asked, the state that writes left",
    ),
    ("Path", "share of the distinct tools of the gold sequence that the run called"),
    ("Precision", "share of the calls sent whose tool stands in the gold sequence"),
    (
        "CP",
        "correct path: the gold sequence occurs, in order, among the calls; repeated calls of one tool count as one",
    ),
    ("Calls", "tool calls really sent, over all attempts of a task"),
    ("Repairs", "how often the model was told of a fault and wrote anew"),
    ("Tokens in", "tokens of prompts, as the model counts them"),
    ("Tokens out", "tokens of replies, as the model counts them"),
    ("Own time", "the part of the time that was not spent waiting for the model"),
    ("Cost", "US dollars by a table of prices; without a figure where a task has no price"),
    ("Repeated writes", "sent again with the same arguments after one that took effect, or of which nobody knows"),
    ("Orphaned writes", "writes of earlier attempts that the last program did not issue"),
    (
        "Outages",
        "answers that our side failed at: a model or service down, a bug of the bench. No other figure holds them",
    ),
)


def comparison(runs: Sequence[Run]) -> Html:
    """The figures of every run, a row each; the best of a column is in bold type where runs differ."""
    best = {column.name: _best(column, runs) for column in COLUMNS}
    groups = list(dict.fromkeys(column.group for column in COLUMNS))
    spans = [(group, sum(column.group == group for column in COLUMNS)) for group in groups]
    head = tag(
        "thead",
        tag(
            "tr",
            tag("td"),
            *(tag("th", group, colspan=span, scope="colgroup") for group, span in spans),
            class_="groups",
        ),
        tag("tr", tag("th", "Run", scope="col"), *(tag("th", _heading(column), scope="col") for column in COLUMNS)),
    )
    body = tag("tbody", *(tag("tr", _name(run), *(_cell(column, run, best) for column in COLUMNS)) for run in runs))
    table = tag("table", tag("caption", "Figures of each run", class_="sr"), head, body, class_="figures")
    region = tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Figures of each run")
    return join([region, _unpriced(runs), _glossary(several=len(runs) > 1)])


def _unpriced(runs: Sequence[Run]) -> Html:
    """Says which runs have prices for some of their answers only, and so no cost."""
    partly = [run.letter for run in runs if 0 < run.summary.unpriced < run.summary.graded]
    if not partly:
        return Html()
    return tag("p", f"No cost for {', '.join(partly)}: some of the answers have no price.", class_="note")


def differences(runs: Sequence[Run], compared: Sequence[Comparison]) -> Html:
    """Each run after the first against the first, over the tasks that both were graded on."""
    first = runs[0]
    shown = [entry for entry in _DIFFERENCES if any(entry[0] in one.differences for one in compared)]
    heads = ("Against " + first.letter, "Tasks shared", *(name for _, name, _ in shown), "Right alone", "p")
    rows = []
    for run, one in zip(runs[1:], compared, strict=True):
        cells = [
            tag("td", f"{one.shared:,}"),
            *(_difference(one.differences.get(key), spell) for key, _, spell in shown),
        ]
        if one.shared:
            won = tag("td", f"{run.letter} {one.only_b}, {first.letter} {one.only_a}")
            cells += [won, tag("td", MISSING if one.p is None else _probability(one.p))]
        else:
            cells += [tag("td", MISSING), tag("td", MISSING)]
        rows.append(tag("tr", _name(run, graded=False), *cells))
    table = tag(
        "table",
        tag("caption", f"Differences from run {first.letter}", class_="sr"),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in heads))),
        tag("tbody", *rows),
        class_="figures",
    )
    note = (
        f"Run minus {first.letter}, over the tasks graded in both; shares in percentage points, the rest as the mean "
        "of a task. Below each its 95% interval, by a bootstrap of the tasks in pairs; bold where it leaves out zero. "
        "Right alone: tasks that one of the two solved and the other did not; p: their exact two-sided McNemar test."
    )
    region = tag(
        "div", table, class_="wide", tabindex=0, role="region", aria_label=f"Differences from run {first.letter}"
    )
    return join([region, tag("p", note, class_="note")])


def marker(run: Run) -> Html:
    """The run's letter on its colour."""
    return tag("span", run.letter, class_=f"mark run-{run.number}")


def _name(run: Run, *, graded: bool = True) -> Html:
    answers = tag("small", counted(run.summary.graded, "graded answer")) if graded else Html()
    name = tag("span", tag("span", run.name, class_="name"), answers)
    return tag("th", tag("span", marker(run), name, class_="run"), scope="row")


def _heading(column: Column) -> Html:
    meaning = dict(_MEANINGS).get(column.name)
    return tag("abbr", column.name, title=meaning) if meaning else tag("span", column.name)


def _best(column: Column, runs: Sequence[Run]) -> float | None:
    values = [value for run in runs if (value := column.value(run)) is not None]
    if column.estimate is None or len({column.shown(value) for value in values}) < 2:
        return None
    return max(values)


def _cell(column: Column, run: Run, best: dict[str, float | None]) -> Html:
    value = column.value(run)
    shown = column.shown(value)
    leads = best[column.name] is not None and shown == column.shown(best[column.name])
    inside: list[str] = [tag("b", shown) if leads else shown]
    if column.estimate is not None and (found := column.estimate(run)) is not None:
        inside.append(tag("small", interval((found.low, found.high))))
        if column.name == "Success":
            inside.append(_bar(found, run))
    return tag("td", *inside, class_="main" if column.name == "Success" else None)


def _bar(found: Estimate, run: Run) -> Html:
    """The interval and its mean from 0 to 100%."""
    return tag(
        "svg",
        tag("rect", x=0, y=4, width=100, height=2, class_="rail"),
        tag(
            "rect",
            x=100 * found.low,
            y=2.5,
            width=max(100 * (found.high - found.low), 1),
            height=5,
            class_=f"soft run-{run.number}",
        ),
        tag("rect", x=min(max(100 * found.mean - 1, 0), 98), y=0, width=2, height=10, class_=f"solid run-{run.number}"),
        viewBox="0 0 100 10",
        class_="interval",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _difference(found: Estimate | None, spell: Callable[[float], str]) -> Html:
    if found is None:
        return tag("td", MISSING)
    clear = found.low > 0 or found.high < 0
    shown = spell(found.mean)
    return tag("td", tag("b", shown) if clear else shown, tag("small", f"{spell(found.low)} to {spell(found.high)}"))


def _signed(value: float, spell: Callable[[float | None], str]) -> str:
    shown = spell(abs(value))
    return shown if value == 0 else f"{'+' if value > 0 else '−'}{shown}"


def _probability(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _glossary(*, several: bool) -> Html:
    entries = [part for name, meaning in _MEANINGS for part in (tag("dt", name), tag("dd", meaning))]
    bold = tag("p", "Bold type marks the highest share, were it by chance.") if several else Html()
    return tag("details", tag("summary", "What the figures mean"), tag("dl", *entries), bold, class_="more")
