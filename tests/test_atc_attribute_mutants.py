"""How often attribution is right: correct programs are mutated everywhere, and an oracle knows where it went wrong.

The oracle is another mechanism than attribution's: containers that know from which call and path they came, and write
down every read that gave None, found nothing, or asked for what is not there.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atc.attribute import attribute
from atc.types import Fault, Program
from protocols.errors import ToolError
from protocols.toolbox import Tool
from sandbox.trace import Trace
from tests.attribute_lab import TOOLS, Change, trace_of


def programs() -> dict[str, str]:
    text = Path(__file__).with_name("data").joinpath("attribution_programs.txt").read_text("utf-8")
    return {name: source for name, _, source in (block.partition("\n") for block in text.split("\n== ")[1:])}


# --- the oracle -------------------------------------------------------------------------------------------------------


@dataclass
class Oracle:
    """What the program read, in order: (what it found, call, path in the full response)."""

    reads: list[tuple[str, int, str]] = field(default_factory=list)

    def hand(self, tool: Tool, index: int, result: Any) -> Any:
        whole = tool.unwrap(result)
        return self.known(whole, index, tool.wrapper if whole is not result and tool.wrapper else "")

    def known(self, value: Any, call: int, path: str) -> Any:
        kind = {dict: KnownDict, list: KnownList}.get(type(value))
        if kind is None:
            return value
        made = kind(value)
        made.at = (self, call, path)
        return made

    def saw(self, what: str, call: int, path: str) -> None:
        self.reads.append((what, call, path))

    def wrong(self, failure_type: str, message: str) -> set[tuple[int, str]]:
        """Places that the failure may be blamed on; the last read decides, for whole lists the first None in them."""
        if failure_type == "KeyError":
            wanted = {"missing"}
        elif "NoneType" in message or failure_type == "ToolError":
            wanted = {"none", "missing"}
        elif failure_type in ("TypeError", "AttributeError"):
            wanted = {"type"}
        else:
            wanted = {"empty"}
        found = [(what, call, path) for what, call, path in self.reads if what in wanted]
        # A key that is not there tells more than the fields that are null as they may be.
        absent = [read for read in found if read[0] == "missing"]
        places = [(call, path) for _, call, path in absent or found]
        return {places[0], places[-1]} if places else set()


class Known:
    """A container that tells the oracle what is read from it."""

    at: tuple[Oracle, int, str]

    def __getitem__(self, key: Any) -> Any:
        oracle, call, path = self.at
        if isinstance(key, slice):
            return oracle.known(self.plain()[key], call, path)
        try:
            value = self.plain()[key]
        except (KeyError, IndexError, TypeError) as error:
            here = _join(path, key) if isinstance(self, dict) and isinstance(key, str) else path
            what = {KeyError: "missing", IndexError: "empty", TypeError: "type"}[type(error)]
            oracle.saw(what, call, here)
            raise
        here = _join(path, key % len(self) if isinstance(self, list) else key)  # type: ignore[arg-type]
        if value is None:
            oracle.saw("none", call, here)
        return oracle.known(value, call, here)

    def __getattr__(self, name: str) -> Any:
        if name == "at":
            raise AttributeError(name)
        oracle, call, path = self.at
        oracle.saw("type", call, path)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def plain(self) -> Any:
        return dict.copy(self) if isinstance(self, dict) else list.copy(self)  # type: ignore[arg-type]


class KnownDict(Known, dict):  # type: ignore[type-arg]
    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            oracle, call, path = self.at
            oracle.saw("missing", call, _join(path, key))
            return default
        return self[key]


class KnownList(Known, list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        if not list.__len__(self):
            oracle, call, path = self.at
            oracle.saw("empty", call, path)
        return (self[i] for i in range(list.__len__(self)))

    def __len__(self) -> int:
        if not list.__len__(self):
            oracle, call, path = self.at
            oracle.saw("empty", call, path)
        return list.__len__(self)


KnownDict.__name__, KnownList.__name__ = "dict", "list"


def _join(path: str, key: Any) -> str:
    return f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)


# --- mutations --------------------------------------------------------------------------------------------------------

Mutant = tuple[str, Change | None]


def _edited(source: str, pick: Callable[[ast.AST], bool], edit: Callable[[ast.AST], ast.AST]) -> Iterator[str]:
    """The program with one node edited, for each node that is picked; line numbers are those of the text itself."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        if pick(node):
            changed = copy.deepcopy(tree)
            target = list(ast.walk(changed))[number]
            replaced = _Replace(target, edit(target)).visit(changed)
            yield ast.unparse(ast.fix_missing_locations(replaced))


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().generic_visit(node)


def _reads_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _text(node.slice)


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def wrong_key(source: str) -> Iterator[Mutant]:
    def edit(node: Any) -> ast.AST:
        return ast.Subscript(node.value, ast.Constant(node.slice.value + "_x"), ast.Load())

    yield from ((text, None) for text in _edited(source, _reads_key, edit))


def wrong_key_politely(source: str) -> Iterator[Mutant]:
    """`x["key"]` becomes `x.get("wrong")`: the failure comes later, if at all."""

    def edit(node: Any) -> ast.AST:
        getter = ast.Attribute(node.value, "get", ast.Load())
        return ast.Call(getter, [ast.Constant("x_" + node.slice.value)], [])

    yield from ((text, None) for text in _edited(source, _reads_key, edit))


def forgotten_level(source: str) -> Iterator[Mutant]:
    """`x["key"]` becomes `x`."""
    yield from ((text, None) for text in _edited(source, _reads_key, lambda node: node.value))  # type: ignore[attr-defined]


def doubled_level(source: str) -> Iterator[Mutant]:
    """A call is subscripted with the field that was unwrapped already."""
    wrappers = {alias: tool.wrapper for alias, tool in TOOLS.items() if tool.wrapper}

    def pick(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in wrappers

    def edit(node: Any) -> ast.AST:
        return ast.Subscript(node, ast.Constant(wrappers[node.func.id]), ast.Load())

    yield from ((text, None) for text in _edited(source, pick, edit))


def dropped_guard(source: str) -> Iterator[Mutant]:
    """`if x is not None:` and the tests of comprehensions are always true."""

    def guards(node: ast.AST) -> bool:
        return (isinstance(node, ast.If) and not node.orelse) or (
            isinstance(node, ast.comprehension) and bool(node.ifs)
        )

    def edit(node: Any) -> ast.AST:
        if isinstance(node, ast.comprehension):
            return ast.comprehension(node.target, node.iter, [], node.is_async)
        returns = any(isinstance(n, ast.Return | ast.Continue) for n in node.body)
        return ast.If(ast.Constant(not returns), node.body, [])

    yield from ((text, None) for text in _edited(source, guards, edit))


def nothing_there(source: str) -> Iterator[Mutant]:
    """One call after another answers with empty lists."""

    def emptied(wanted: int) -> Change:
        def change(tool: str, index: int, result: Any) -> Any:
            if index != wanted:
                return result
            return {k: [] if isinstance(v, list) else v for k, v in result.items()}

        return change

    calls = [call for call in trace_of(source).calls if call.error is None]
    lists = [call.index for call in calls if any(isinstance(value, list) for value in call.result.values())]
    yield from ((source, emptied(index)) for index in lists)


def drifted(source: str) -> Iterator[Mutant]:
    """A field of one tool's responses is renamed by the service."""

    def renamed(alias: str, key: str) -> Change:
        def walk(value: Any) -> Any:
            if isinstance(value, dict):
                return {(k + "_new" if k == key else k): walk(v) for k, v in value.items()}
            return [walk(v) for v in value] if isinstance(value, list) else value

        return lambda tool, index, result: walk(result) if tool == alias else result

    fields = {
        "get_plane": ("model", "seats", "tail_number"),
        "list_flights": ("tail_number", "dest", "carrier", "next_page"),
    }
    fields |= {"get_airline": ("name",), "search_airports": ("code",), "get_weather": ("temp",), "book_seat": ("id",)}
    used = {call.tool for call in trace_of(source).calls}
    yield from ((source, renamed(alias, key)) for alias in sorted(used & set(fields)) for key in fields[alias])


READS = {
    "wrong key": wrong_key,
    "wrong key, politely": wrong_key_politely,
    "forgotten level": forgotten_level,
    "doubled level": doubled_level,
    "dropped guard": dropped_guard,
    "nothing there": nothing_there,
    "drift": drifted,
}

SIBLINGS = {"tail_number": "flight_id", "code": "name", "carrier": "flight_id"}


def wrong_argument(source: str) -> Iterator[str]:
    """A tool is given the field beside the right one."""

    def pick(node: ast.AST) -> bool:
        value = node.value if isinstance(node, ast.keyword) else None
        return isinstance(value, ast.Subscript) and _text(value.slice) and value.slice.value in SIBLINGS  # type: ignore[attr-defined]

    def edit(node: Any) -> ast.AST:
        other = SIBLINGS[node.value.slice.value]
        return ast.keyword(node.arg, ast.Subscript(node.value.value, ast.Constant(other), ast.Load()))

    yield from _edited(source, pick, edit)


def broken_service(source: str) -> Iterator[tuple[int, Change]]:
    """One call after another fails."""

    def failing(wanted: int) -> Change:
        def change(tool: str, index: int, result: Any) -> Any:
            if index == wanted:
                raise ToolError(500, "internal error", outcome="unknown")
            return result

        return change

    yield from ((call.index, failing(call.index)) for call in trace_of(source).calls)


# --- the measure ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """`exact`: the very call and path, list indices aside. `near`: another call of the same expression, same path."""

    exact: bool
    near: bool
    story: str


def _judged(source: str, change: Change | None) -> Verdict | None:
    """Whether the fault is right; None for a mutant that still answers, or fails without misreading anything."""
    oracle = Oracle()
    trace = trace_of(source, change=change, hand=oracle.hand)
    if trace.failure is None or trace.failure.kind != "exception":
        return None
    right = {(call, _general(path)) for call, path in oracle.wrong(trace.failure.type, trace.failure.message)}
    fault = attribute(Program(source), (), trace, TOOLS)
    assert fault is not None
    if not right or _was_given(trace, fault):
        return None
    story = f"{fault.message} -> call {fault.call} at {fault.path!r}, not {sorted(right)}\n{source}\n{trace.failure}"
    if fault.call is None:
        return Verdict(exact=False, near=False, story=story)
    path = _general(fault.path or "")
    blamed = trace.calls[fault.call]
    near = any(
        (trace.calls[call].tool, trace.calls[call].line, p) == (blamed.tool, blamed.line, path) for call, p in right
    )
    return Verdict(exact=(fault.call, path) in right, near=near, story=story)


def _general(path: str) -> str:
    return re.sub(r"\[\d+\]", "[]", path)


def _was_given(trace: Trace, fault: Fault) -> bool:
    """Whether a call failed over an argument that has a value: nothing was misread."""
    failed = trace.calls[-1]
    return failed.error is not None and any(value is not None for value in failed.arguments.values())


@pytest.mark.parametrize("name", programs())
def test_the_programs_are_correct(name: str) -> None:
    source = programs()[name]
    oracle = Oracle()
    trace = trace_of(source, hand=oracle.hand)
    assert trace.failure is None
    assert trace.stdout == trace_of(source).stdout != ""


def test_the_right_call_and_path_are_blamed(record_property: Callable[[str, object], None]) -> None:
    score: dict[str, list[int]] = {}
    wrong: list[str] = []
    for kind, mutate in READS.items():
        every = [_judged(*mutant) for source in programs().values() for mutant in mutate(source)]
        verdicts = [verdict for verdict in every if verdict is not None]
        score[kind] = [sum(v.exact for v in verdicts), sum(v.near for v in verdicts), len(verdicts)]
        wrong += [f"[{kind}] {v.story}" for v in verdicts if not v.near]
    exact, near, total = (sum(column) for column in zip(*score.values(), strict=True))
    table = "; ".join(f"{kind} {a} + {b - a} of {n}" for kind, (a, b, n) in score.items())
    print(f"\nblamed rightly: {exact} + {near - exact} (another call of the same expression) of {total}: {table}")
    record_property("blamed_rightly", exact / total)
    assert total >= 150
    assert exact / total >= 0.93, table
    assert near / total >= 0.98, "\n\n".join(wrong)
    assert all(a / n >= 0.85 for a, _, n in score.values()), table


def test_wrong_arguments_are_traced_to_the_field_they_came_from() -> None:
    seen = 0
    for source in programs().values():
        for text in wrong_argument(source):
            trace = trace_of(text)
            if trace.failure is None or trace.failure.type != "ToolError":
                continue
            failed = [call for call in trace.calls if call.index == trace.failure.call]
            fault = attribute(Program(text), (), trace, TOOLS)
            assert fault is not None
            seen += 1
            given = failed[0].arguments[fault.path or ""]
            assert (fault.kind, fault.call) == ("bad_arguments", failed[0].index)
            said = next(fact for fact in fault.evidence if " came from " in fact)
            assert repr(given).strip("'") in said
            assert any(f'["{other}"]' in said for other in SIBLINGS.values())
            assert any(f"The field '{right}'" in fact for fact in fault.evidence for right in SIBLINGS)
    assert seen >= 10


def test_failing_tools_are_blamed_themselves() -> None:
    seen = 0
    for source in programs().values():
        for index, change in broken_service(source):
            trace = trace_of(source, change=change)
            if trace.failure is None:
                continue
            fault = attribute(Program(source), (), trace, TOOLS)
            assert fault is not None
            seen += 1
            writes = TOOLS[trace.calls[index].tool].protocol.writes
            assert (fault.kind, fault.call) == ("unknown_outcome" if writes else "tool_failed", index)
    assert seen >= 60
