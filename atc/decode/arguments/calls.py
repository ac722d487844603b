"""Grammars of whole calls, for catalogues that are small enough for one grammar, and of names."""

from __future__ import annotations

from collections.abc import Iterable

from atc.decode.arguments.build import arguments_grammar
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.formats import CallFormat
from atc.decode.grammar import Choice, Grammar, Node, Pattern, Sequence, Text
from atc.regex import as_rust, literal
from protocols.toolbox import Toolbox


def call_grammar(tools: Toolbox, form: CallFormat, *, bounds: Bounds = BOUNDS) -> Grammar:
    """One call of one of `tools`, from what stands before its name to what stands after its arguments; no trigger.

    Raises:
        Undecodable: there is no tool, or the schema of one cannot be compiled.
    """
    if not tools:
        raise Undecodable("there is no tool to call.")
    rules: dict[str, Node] = {}
    calls: list[Node] = []
    unheld: list[str] = []
    left_out: list[str] = []
    for i, (alias, tool) in enumerate(tools.items()):
        arguments = arguments_grammar(tool, form.arguments, bounds=bounds, prefix=f"t{i}_")
        rules |= arguments.rules
        unheld += [f"{alias}{clause}" for clause in arguments.unheld]
        left_out += [f"{alias}{clause}" for clause in arguments.left_out]
        # The name and what follows it are one terminal: `max(` is no beginning of `maximum(`.
        calls.append(Sequence((Text(f"{alias}{form.between}"), arguments.start, Text(form.after))))
    # Once for all tools: llguidance bounds the places in a grammar that it keeps for one mask. Where a thought ends
    # with a newline, 1,500 of Qwen's tokens reach it, and each would lead to as many places as there are tools.
    before = (Text(form.before),) if form.before else ()
    start = Sequence((*before, calls[0] if len(calls) == 1 else Choice(tuple(calls))))
    return Grammar(start, rules, tuple(unheld), tuple(left_out))


def names_grammar(names: Iterable[str]) -> Grammar:
    """One of `names` and nothing else.

    Raises:
        Undecodable: there is none, or one is empty.
    """
    listed = tuple(dict.fromkeys(names))
    if not listed or "" in listed:
        raise Undecodable("there is no name to choose." if not listed else "a name is empty.")
    # One terminal: a rule with a thousand alternatives is more than llguidance's parser takes.
    return Grammar(Pattern(_any_of(sorted(listed))))


def _any_of(texts: list[str]) -> str:
    """An expression for the sorted `texts`, beginnings that they share written once."""
    found: list[str] = []
    at = 0
    while at < len(texts):
        last = at
        while last + 1 < len(texts) and texts[at] and texts[last + 1][0] == texts[at][0]:
            last += 1
        # What the first and the last begin with, all between them begin with.
        shared = _shared(texts[at], texts[last])
        begun = as_rust(literal(shared)) if not (shared.isascii() and shared.isalnum()) else shared
        rest = [text[len(shared) :] for text in texts[at : last + 1]]
        found.append(begun if last == at else f"{begun}({_any_of(rest)})")
        at = last + 1
    return "|".join(found)


def _shared(one: str, two: str) -> str:
    """The beginning that two texts have in common."""
    return one[: next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))]
