"""Gold programs with one typical model error each, and the true location of the error."""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atc.core.program import Program
from atc.core.source_edits import SourceOffsets, apply_edits
from benchmarks.blame.gold import Edit, ObservedGold, ObservedValue, Truth, can_be_id
from benchmarks.blame.guards import missing_guards
from protocols.python_source import parse_python
from protocols.schema import resolve
from protocols.tool import Tool
from toolflow_bench.task import Task

_PAGES = ("page", "page_number")
_CODE = re.compile(r"[A-Z0-9][A-Z0-9-]{0,5}|[a-z]+(_[a-z]+)*")
_OTHER_WORDS = {
    "name": "title", "title": "name", "total": "count", "date": "day", "season": "year",
    "year": "season", "code": "id", "id": "code", "destination": "dest", "airline": "carrier",
    "latitude": "lat", "pages": "total_pages",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A gold program with one fault: `kind` is the kind of error, `variant` how it was made.

    `truths` are the locations that attribution may blame. The first is the fault itself. The others
    are the response from which a wrong argument came, or the empty response that it caused.
    """

    task: Task
    kind: str
    variant: str
    program: str
    line: int
    before: str
    after: str
    truths: tuple[Truth, ...]

    @property
    def id(self) -> str:
        return f"{self.task.id}/{self.kind}/{self.variant}/{self.line}/{self.after[:40]}"


def mutants(gold: ObservedGold, *, seed: int = 0) -> tuple[Mutant, ...]:
    """Return all distinct mutants of a gold program, that is, versions with one fault each.

    The seed determines which wrong names and values they use.
    """
    found: dict[str, Mutant] = {}
    named = _count_tool_names(gold, gold.tree)
    for kind, make in _MAKERS.items():
        for node, after, variant, truths in make(
            gold, random.Random(f"{seed} {gold.task.id} {kind}")
        ):
            place = SourceOffsets(gold.task.program)
            program = apply_edits(
                Program(gold.task.program), [place.replacement(node, after)]
            ).source
            before = ast.get_source_segment(gold.task.program, node) or ast.unparse(node)
            try:
                tree = parse_python(program)
            except SyntaxError:
                continue
            if program.count("\n") != gold.task.program.count("\n") or ast.dump(tree) == ast.dump(
                gold.tree
            ):
                continue
            if (
                _count_tool_names(gold, tree) != named
            ):  # removing a call would change the numbers of later calls
                truths = [replace(one, call=None) for one in truths]
            own = tuple(dict.fromkeys(truths))
            found.setdefault(
                program, Mutant(gold.task, kind, variant, program, node.lineno, before, after, own)
            )
    return tuple(found.values())


def pick(found: Sequence[Mutant], *, seed: int = 0) -> Iterator[Mutant]:
    """Yield one mutant (faulty gold program) of each kind, drawn at random with the seed."""
    for kind in dict.fromkeys(mutant.kind for mutant in found):
        own = [mutant for mutant in found if mutant.kind == kind]
        random.Random(f"{seed} {own[0].task.id} {kind} pick").shuffle(own)
        yield own[0]


def _count_tool_names(gold: ObservedGold, tree: ast.AST) -> int:
    return sum(isinstance(node, ast.Name) and node.id in gold.toolbox for node in ast.walk(tree))


def _text(expr: ast.expr) -> str:
    """Return the source of an expression, to which `.name` or `[key]` can be appended.

    It is in parentheses if it needs them.
    """
    plain = isinstance(expr, ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.Constant)
    return ast.unparse(expr) if plain else f"({ast.unparse(expr)})"


def _consumers(gold: ObservedGold, read: ast.expr) -> list[Truth]:
    """Return the arguments of calls to which a value is passed that the expression `read` reads.

    The value may be passed directly or through variables.
    """
    places = {(one.call, one.path) for one in gold.traced_values(read)}
    within = {*ast.walk(read)} - {read}
    found: list[Truth] = []
    for site, _ in gold.sites():
        for keyword in site.keywords:
            inside = list(ast.walk(keyword.value))
            slices = [
                getattr(node.slice, "value", None)
                for node in inside
                if isinstance(node, ast.Subscript)
            ]
            anew = read not in inside and any(isinstance(one, str) for one in slices)
            got = read in inside or any(
                (one.call, one.path) in places for one in gold.traced_values(keyword.value)
            )
            if keyword.arg is not None and got and not anew and keyword.value not in within:
                found.append(gold.argument(site, keyword.arg))
    return found


def _wrong_keys(gold: ObservedGold, rng: random.Random) -> Iterator[Edit]:
    """Yield edits that read a field wrongly.

    The variant `absent` reads a field that no object has, and `polite` reads it with `.get`.
    `sibling` reads another field. `forgotten` omits the access. `doubled` reads the wrapper key of
    a response, although programs get the response without its wrapper.
    """
    for node in ast.walk(gold.tree):
        match node:
            case ast.Subscript(ctx=ast.Load(), slice=ast.Constant(value=str() as key)):
                seen = [one for one in gold.traced_values(node) if one.path[-1] == key]
                if seen:
                    yield from _misread_field(gold, node, key, seen[0], rng)
    for site, tool in gold.sites():
        first_call = gold.calls_of(site)[0]
        if tool.wrapper is not None and not gold.calls[first_call].failed:
            whole = [gold.place(first_call, (tool.wrapper,) * n, sure=True) for n in (1, 2)]
            yield site, f"{ast.unparse(site)}[{tool.wrapper!r}]", "doubled", whole


def _misread_field(
    gold: ObservedGold, node: ast.Subscript, key: str, seen: ObservedValue, rng: random.Random
) -> Iterator[Edit]:
    """Yield wrong ways to read the field `key`, which the expression `node` reads.

    `seen` is the first observed value of this field.
    """
    call = seen.call or 0
    above = seen.path[:-1]
    holder = gold.response(call, above)
    own = dict(holder) if isinstance(holder, Mapping) else {}
    values = gold.values(node)
    is_first = values[0] == seen
    is_only = is_first and len(values) == 1
    owner = _text(node.value)
    absent = _absent(key, gold, call, own, rng)
    missing = gold.place(call, (*above, absent), sure=is_first)
    yield node, f"{owner}[{absent!r}]", "absent", [missing]
    polite = gold.place(call, (*above, absent), sure=is_only)
    yield node, f"{owner}.get({absent!r})", "polite", [polite, *_consumers(gold, node)]
    whole = [gold.place(call, path, sure=is_only) for path in (above, seen.path)]
    yield node, owner, "forgotten", [*whole, *_consumers(gold, node)]
    scalars = {name for name, one in own.items() if not isinstance(one, list | dict)}
    others = sorted(scalars - {key})
    if others:
        other = rng.choice(others)
        beside = gold.place(call, (*above, other), sure=is_only)
        yield node, f"{owner}[{other!r}]", "sibling", [beside, *_consumers(gold, node)]


def _absent(
    key: str, gold: ObservedGold, call: int, own: Mapping[str, object], rng: random.Random
) -> str:
    """Return a plausible wrong name for the field `key` that no object of the response has."""
    schema = str(gold.toolbox[gold.calls[call].tool].protocol.output_schema)
    words = key.split("_")
    made = [
        words[0] + "".join(word.capitalize() for word in words[1:]),
        "_".join(words[:-1]),
        "_".join(words[1:]),
        "_".join(_OTHER_WORDS.get(word, word) for word in words),
        key.removesuffix("s") if key.endswith("s") else f"{key}s",
        f"{key}_value",
    ]
    fitting = [
        name
        for name in dict.fromkeys(made)
        if name and name not in own and f"{name!r}" not in schema
    ]
    return rng.choice(fitting) if fitting else f"{key}_x"


def _wrong_ids(gold: ObservedGold, rng: random.Random) -> Iterator[Edit]:
    """Yield edits by which an argument gets its id from the wrong field of the right object."""
    for site, _ in gold.sites():
        for keyword in site.keywords:
            seen = gold.traced_values(keyword.value)
            if keyword.arg is None or not seen or not can_be_id(seen[0].value):
                continue
            first = seen[0]
            own = gold.argument(site, keyword.arg, sure=len(gold.calls_of(site)) == 1)
            for read in _reads(gold, first):
                more = _consumers(gold, read)
                alone = not more or more == [gold.argument(site, keyword.arg)]
                if other := _other_field(gold, first, read, rng):
                    truths = [*([own] if alone else more), *gold.empty_answers(site)]
                    origin = gold.place(first.call or 0, (*first.path[:-1], other))
                    yield read, f"{_text(read.value)}[{other!r}]", "other_kind", [*truths, origin]


def _reads(gold: ObservedGold, seen: ObservedValue) -> Iterator[ast.Subscript]:
    """Yield the expressions that read the value `seen` from a response.

    This value is passed as an argument. Expressions that run later than the argument are left out.
    """
    for node in gold.observed_values:
        traced = gold.traced_values(node) if isinstance(node, ast.Subscript) else []
        same = any((one.call, one.path) == (seen.call, seen.path) for one in traced)
        if isinstance(node, ast.Subscript) and same and traced[0].order <= seen.order:
            yield node


def _other_field(
    gold: ObservedGold, seen: ObservedValue, read: ast.Subscript, rng: random.Random
) -> str | None:
    """Return another field of the object from which `read` reads, preferably of the same type.

    Return None if the object has no other field whose value could be an id.
    """
    key = seen.path[-1]
    holder = gold.response(seen.call or 0, seen.path[:-1])
    if (
        not isinstance(holder, Mapping)
        or not isinstance(read.slice, ast.Constant)
        or read.slice.value != key
    ):
        return None
    own = holder[key]
    others = sorted(
        name for name, value in holder.items() if name != key and can_be_id(value) and value != own
    )
    same = [name for name in others if type(holder[name]) is type(own)] or others
    return rng.choice(same) if same else None


def _wrong_enums(gold: ObservedGold, rng: random.Random) -> Iterator[Edit]:
    """Yield edits that replace a literal text, such as a word of an enum, by a wrong one.

    The variant `outside` passes a word that the argument does not allow, `other` another word that
    it allows. `compared` compares a field with a word that the field never contains.
    """
    for site, tool in gold.sites():
        for keyword in site.keywords:
            if keyword.arg is not None:
                yield from _wrong_choices(gold, site, tool, keyword, rng)
    for node in ast.walk(gold.tree):
        match node:
            case ast.Compare(
                left=left,
                ops=[ast.Eq() | ast.NotEq()],
                comparators=[ast.Constant(value=str(word)) as constant],
            ):
                seen = gold.traced_values(left)
                if seen and _CODE.fullmatch(word):
                    known = {one.value for one in gold.values(left) if isinstance(one.value, str)}
                    sure = len({one.call for one in gold.values(left)}) == 1
                    first_read = gold.place(seen[0].call or 0, seen[0].path, sure=sure)
                    yield constant, repr(_outside(word, known, rng)), "compared", [first_read]


def _wrong_choices(
    gold: ObservedGold, site: ast.Call, tool: Tool, keyword: ast.keyword, rng: random.Random
) -> Iterator[Edit]:
    """Yield edits that put another word in the place of a literal argument.

    Only arguments whose schema has an enum are edited. The other word is in the enum (`other`) or
    is not (`outside`).
    """

    name = keyword.arg or ""
    schema = tool.protocol.parameters.get(tool.arguments.get(name, ""), {})
    enum = resolve(schema, tool.protocol.input_schema).get("enum", ())
    allowed = [one for one in enum if isinstance(one, str)]
    match keyword.value:
        case ast.Constant(value=str() as word) if allowed:
            outside = _outside(word, {*allowed}, rng)
            truths = [gold.argument(site, name, sure=True), *gold.empty_answers(site)]
            yield keyword.value, repr(outside), "outside", truths
            if others := [one for one in allowed if one != word]:
                once = len(gold.calls_of(site)) == 1
                truths[0] = gold.argument(site, name, sure=once)
                yield keyword.value, repr(rng.choice(others)), "other", truths


def _outside(word: str, allowed: set[str], rng: random.Random) -> str:
    """Return another spelling of `word` that is not among the allowed words."""
    made = [
        word.lower(),
        word.upper(),
        word.title(),
        word.replace("_", "-"),
        word.replace("_", " "),
        f"{word}s",
    ]
    return rng.choice([one for one in dict.fromkeys(made) if one not in allowed and one != word])


def _wrong_pages(gold: ObservedGold, _rng: random.Random) -> Iterator[Edit]:
    """Yield edits with which a program begins one page too early or reads past the last page.

    The variant `start` begins too early, `beyond` reads past the last page.
    """
    for site, tool in gold.sites():
        page = next((alias for alias in tool.arguments if alias in _PAGES), None)
        result = gold.calls[gold.calls_of(site)[0]].result
        if page is None or not isinstance(result, Mapping):
            continue
        given = next((keyword.value for keyword in site.keywords if keyword.arg == page), None)
        if given is None or isinstance(given, ast.Constant):
            yield from _wrong_page_numbers(gold, site, page, given, result.get("pages"))
        else:
            text = ast.unparse(given)
            empty = gold.empty_answers(site)
            yield given, f"{text} - 1", "start", [gold.argument(site, page, sure=True), *empty]
            yield given, f"{text} + 1", "beyond", [gold.argument(site, page), *empty]


def _wrong_page_numbers(
    gold: ObservedGold, site: ast.Call, page: str, given: ast.Constant | None, pages: object
) -> Iterator[Edit]:
    """Yield edits of a call whose page argument is a literal, or missing.

    `pages` is the number of pages that the service reported.
    """
    literal = 1 if given is None else given.value
    number = literal if isinstance(literal, int) else 1
    last = max(pages, 1) if isinstance(pages, int) else 1
    empty = gold.empty_answers(site)
    is_only = len(gold.calls_of(site)) == 1
    early = gold.argument(site, page, sure=True)
    late = gold.argument(site, page, sure=is_only)
    yield site, _replace_argument(site, page, number - 1), "start", [early, *empty]
    yield site, _replace_argument(site, page, last + 1), "beyond", [late, *empty]


def _replace_argument(site: ast.Call, argument: str, value: int) -> str:
    """Return the source of a call in which one argument has another value."""
    changed = copy.deepcopy(site)
    changed.keywords = [keyword for keyword in changed.keywords if keyword.arg != argument]
    changed.keywords.append(ast.keyword(argument, ast.Constant(value)))
    return ast.unparse(changed)


_MAKERS: Mapping[str, Callable[[ObservedGold, random.Random], Iterator[Edit]]] = {
    "wrong_key": _wrong_keys,
    "wrong_id": _wrong_ids,
    "wrong_enum": _wrong_enums,
    "off_by_one_page": _wrong_pages,
    "missing_guard": missing_guards,
}
MUTANT_KINDS = tuple(_MAKERS)
