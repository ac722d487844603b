"""The tables of figures: every run, the differences from the first, and success by group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from atc.pages.formats import MISSING, counted, dollars, interval, mean, percent, points, seconds, whole
from atc.pages.markup import Html, join, little, table, tag, terms
from toolflow_bench.compare import Comparison
from toolflow_bench.metrics import Share
from toolflow_bench.report.runs import Run
from toolflow_bench.resampling import Estimate

Spell = Callable[[float | None], str]

_SHARES = {"Success": "success", "Path": "path", "Precision": "precision", "CP": "cp"}
_MEANS: Mapping[str, tuple[str, Spell]] = {
    "Calls": ("calls", mean),
    "Model calls": ("model_calls", mean),
    "Repairs": ("repairs", mean),
    "Tokens in": ("input_tokens", mean),
    "Tokens out": ("output_tokens", mean),
    "Time": ("seconds_total", seconds),
    "Own time": ("own_seconds_total", seconds),
    "Cost": ("cost", dollars),
}
_TOTALS = {"Repeated writes": "repeated_writes", "Orphaned writes": "orphaned_writes", "Outages": "ungraded"}
"""Columns of the table of runs: their heads, and the figure of `Summary` that each has."""
_DIFFERENCES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "success": ("Success", points),
    "path": ("Path", points),
    "precision": ("Precision", points),
    "cp": ("CP", points),
    "calls": ("Calls", lambda value: _signed(value, mean)),
    "tokens": ("Tokens", lambda value: _signed(value, mean)),
    "seconds": ("Time", lambda value: _signed(value, lambda size: f"{mean(size)} s")),
    "cost": ("Cost", lambda value: _signed(value, lambda size: dollars(size, digits=2))),
}
_MEANINGS = {
    "Success": "graded right by program: typed values with their tolerance, order where asked, the state that writes "
    "left",
    "Path": "share of the distinct tools of the gold sequence that the run called",
    "Precision": "share of the calls sent whose tool stands in the gold sequence",
    "CP": "correct path: the gold sequence occurs, in order, among the calls; repeated calls of one tool count as one",
    "Calls": "tool calls really sent, over all attempts of a task",
    "Repairs": "how often the model was told of a fault and wrote anew",
    "Tokens in": "tokens of prompts, as the model counts them",
    "Tokens out": "tokens of replies, as the model counts them",
    "Own time": "the part of the time that was not spent waiting for the model",
    "Cost": "US dollars by a table of prices; without a figure where a task has no price",
    "Repeated writes": "sent again with the same arguments after one that took effect, or of which nobody knows",
    "Orphaned writes": "writes of earlier attempts that the last program did not issue",
    "Outages": "answers that our side failed at: a model or service down, a bug of the bench. No other figure holds "
    "them",
}
_GROUPS = {
    "By service": "by_service",
    "By calls needed": "by_calls",
    "By difficulty": "by_difficulty",
    "By split": "by_split",
}


def figures(runs: Sequence[Run]) -> Html:
    """The figures of every run, a row each; the best share of a column is in bold type where runs differ."""
    best = {head: _best([getattr(run.summary, key) for run in runs]) for head, key in _SHARES.items()}
    rows = []
    for run in runs:
        shares = [_share(head, getattr(run.summary, key), run, best[head]) for head, key in _SHARES.items()]
        means = [tag("td", spell(run.a_task(getattr(run.summary, key)))) for key, spell in _MEANS.values()]
        totals = [tag("td", whole(getattr(run.summary, key))) for key in _TOTALS.values()]
        rows.append([_name(run), *shares, *means, *totals])
    heads = [tag("abbr", h, title=_MEANINGS[h]) if h in _MEANINGS else h for h in (*_SHARES, *_MEANS, *_TOTALS)]
    groups = [("Share of tasks", len(_SHARES)), ("Mean a task", len(_MEANS)), ("In all", len(_TOTALS))]
    partly = [run.letter for run in runs if 0 < run.summary.unpriced < run.summary.graded]
    unpriced = f"No cost for {', '.join(partly)}: some of the answers have no price."
    bold = tag("p", "Bold type marks the highest share, were it by chance.") if len(runs) > 1 else Html()
    return join(
        [
            table("Figures of each run", ["Run", *heads], rows, groups=groups),
            tag("p", unpriced, class_="note") if partly else Html(),
            tag("details", tag("summary", "What the figures mean"), terms(_MEANINGS.items()), bold, class_="more"),
        ]
    )


def differences(runs: Sequence[Run], compared: Sequence[Comparison]) -> Html:
    """Each run after the first against the first, over the tasks that both were graded on."""
    first = runs[0].letter
    shown = {key: about for key, about in _DIFFERENCES.items() if any(key in one.differences for one in compared)}
    heads = (f"Against {first}", "Tasks shared", *(name for name, _ in shown.values()), "Right alone", "p")
    rows = []
    for run, one in zip(runs[1:], compared, strict=True):
        found = [_difference(one.differences.get(key), spell) for key, (_, spell) in shown.items()]
        alone = f"{run.letter} {one.only_b}, {first} {one.only_a}" if one.shared else MISSING
        p = MISSING if one.p is None else "<0.001" if one.p < 0.001 else f"{one.p:.3f}"
        rows.append([_name(run, graded=False), tag("td", f"{one.shared:,}"), *found, tag("td", alone), tag("td", p)])
    note = (
        f"Run minus {first}, over the tasks graded in both; shares in percentage points, the rest as the mean "
        "of a task. Below each its 95% interval, by a bootstrap of the tasks in pairs; bold where it leaves out zero. "
        "Right alone: tasks that one of the two solved and the other did not; p: their exact two-sided McNemar test."
    )
    return join([table(f"Differences from run {first}", heads, rows), tag("p", note, class_="note")])


def breakdown(runs: Sequence[Run]) -> Html:
    """Success by service, by the number of calls that a task needs, by difficulty, and by split."""
    kept: list[tuple[str, str, list[str]]] = []
    for title, key in _GROUPS.items():
        shares: list[Mapping[str, Share]] = [getattr(run.summary, key) for run in runs]
        names = [name for name in dict.fromkeys(name for one in shares for name in one) if _any_graded(name, shares)]
        # One split, or one service that has no name, says nothing that is not said above.
        if len(names) > 1 or (names and key != "by_split" and names != [""]):
            kept.append((title, key, names))
    if not kept:
        return tag("p", "No answer was graded.", class_="note")
    rows = []
    for run in runs:
        cells = [_group(getattr(run.summary, key).get(name), run) for _, key, names in kept for name in names]
        rows.append([tag("th", _label(run), scope="row"), *cells])
    # `flights + places`, which a line may break; `7+` as it is.
    heads = [n if n.endswith("+") else " + ".join(n.split("+")) for _, _, names in kept for n in names]
    groups = [(title, len(names)) for title, _, names in kept]
    return table("Success by group", ["Run", *heads], rows, groups=groups)


def _label(run: Run, *more: Html) -> Html:
    name = tag("span", run.name, class_="name")
    return tag("span", run.mark, tag("span", name, *more) if more else name, class_="run")


def _name(run: Run, *, graded: bool = True) -> Html:
    answers = tag("small", counted(run.summary.graded, "graded answer")) if graded else Html()
    return tag("th", _label(run, answers), scope="row")


def _best(found: Sequence[Estimate | None]) -> str | None:
    """The highest share as it is spelt; None where all are spelt alike."""
    known = [one.mean for one in found if one is not None]
    return percent(max(known)) if len(set(map(percent, known))) > 1 else None


def _share(head: str, found: Estimate | None, run: Run, best: str | None) -> Html:
    class_ = "main" if head == "Success" else None
    if found is None:
        return tag("td", MISSING, class_=class_)
    shown = percent(found.mean)
    inside: list[Html | str] = [tag("b", shown) if shown == best else shown]
    inside.append(tag("small", interval((found.low, found.high))))
    if class_:  # the interval and its mean from 0 to 100%
        low, width, middle = 100 * found.low, 100 * (found.high - found.low), 100 * found.mean
        rail = tag("rect", x=0, y=4, width=100, height=2, class_="rail")
        soft = tag("rect", x=low, y=2.5, width=max(width, 1), height=5, class_=f"soft run-{run.colour}")
        mark = f"solid run-{run.colour}"
        solid = tag("rect", x=min(max(middle - 1, 0), 98), y=0, width=2, height=10, class_=mark)
        inside.append(little(100, 10, rail, soft, solid, class_="interval"))
    return tag("td", *inside, class_=class_)


def _group(share: Share | None, run: Run) -> Html:
    if share is None or not share.graded:
        return tag("td", MISSING)
    solved = share.solved / share.graded
    rail = tag("rect", x=0, y=0, width=100, height=5, class_="rail")
    solid = tag("rect", x=0, y=0, width=100 * solved, height=5, class_=f"solid run-{run.colour}")
    count = tag("small", f"{share.solved} of {share.graded}")
    return tag("td", percent(solved), count, little(100, 5, rail, solid, class_="meter"))


def _any_graded(name: str, shares: Sequence[Mapping[str, Share]]) -> bool:
    return any(name in one and one[name].graded for one in shares)


def _difference(found: Estimate | None, spell: Callable[[float], str]) -> Html:
    if found is None:
        return tag("td", MISSING)
    shown = spell(found.mean)
    clear = found.low > 0 or found.high < 0
    return tag("td", tag("b", shown) if clear else shown, tag("small", f"{spell(found.low)} to {spell(found.high)}"))


def _signed(value: float, spell: Spell) -> str:
    shown = spell(abs(value))
    return shown if value == 0 else f"{'+' if value > 0 else '−'}{shown}"
