"""`wrong_id`: a value of a response that becomes an argument is taken from another field, item or variable."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping

from atc.attribute.paths import Path
from toolflow_bench.mutants.edit import bracketed
from toolflow_bench.mutants.making import Edit, Where, empty_answers, in_response, mutant_of, of_argument
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold, Seen
from toolflow_bench.mutants.passing import Passed, consumers, passed_on, telling


def wrong_ids(gold: Gold, rng: random.Random) -> Iterator[Mutant]:
    """A mutant for each variant of each id that is passed on.

    `other_kind`: another field of the object that the id stands in. `other_item`: another item of the list that the
    object stands in. `other_variable`: another variable that holds a value of some response.
    """
    for passed in passed_on(gold):
        for read in _reads(gold, passed):
            yield from _other_kind(gold, passed, read, rng)
            yield from _other_item(gold, passed, read)
        yield from _other_variable(gold, passed, rng)


def _reads(gold: Gold, passed: Passed) -> list[ast.Subscript]:
    """The reads of a response that gave the argument its value: in the argument itself, or where it was set aside."""
    place = passed.seen.call, passed.seen.path
    return [
        node
        for node in ast.walk(gold.tree)
        if isinstance(node, ast.Subscript)
        and any((one.call, one.path) == place for one in gold.traced(node))
        and gold.traced(node)[0].order <= passed.seen.order
    ]


def _told(
    gold: Gold, kind: str, node: ast.expr, new: str, passed: Passed, origin: Where | None, read: ast.expr | None = None
) -> Mutant | None:
    once = len(gold.values(passed.site)) == 1
    reached = consumers(gold, read) if read is not None else []
    alone = not reached or (len(reached) == 1 and reached[0].site is passed.site)
    own = of_argument(gold, passed.site, passed.argument, sure=once and alone)
    truth, *more = [own] if alone else reached
    also = [*more, *empty_answers(gold, passed.site), *([origin] if origin is not None else [])]
    return mutant_of(gold, "wrong_id", Edit(node=node, text=new, variant=kind), truth, also)


def _other_kind(gold: Gold, passed: Passed, read: ast.Subscript, rng: random.Random) -> Iterator[Mutant]:
    path, call = passed.seen.path, passed.seen.call
    if call is None or not path or not isinstance(read.slice, ast.Constant) or read.slice.value != path[-1]:
        return
    holder = gold.response(call, path[:-1])
    if not isinstance(holder, Mapping):
        return
    own = holder[path[-1]]
    others = sorted(name for name, value in holder.items() if name != path[-1] and telling(value) and value != own)
    same = [name for name in others if type(holder[name]) is type(own)] or others
    if same:
        other = rng.choice(same)
        origin = in_response(gold, call, (*path[:-1], other), sure=False)
        made = _told(gold, "other_kind", read, f"{bracketed(read.value)}[{other!r}]", passed, origin, read)
        if made is not None:
            yield made


def _other_item(gold: Gold, passed: Passed, read: ast.Subscript) -> Iterator[Mutant]:
    """`found[0]` on the way to the id becomes `found[1]` or `found[-1]`."""
    for node in ast.walk(read):
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant | ast.UnaryOp):
            continue
        index = ast.literal_eval(node.slice) if not isinstance(node.slice, ast.Slice) else None
        if not isinstance(index, int) or isinstance(index, bool) or not (seen := gold.values(node.value)):
            continue
        length = seen[0].value[1] if isinstance(seen[0].value, list) else 0
        for other in (1, -1, 0):
            if length > 1 and other % length != index % length:
                origin = _origin(gold, passed.seen)
                made = _told(gold, "other_item", node, f"{bracketed(node.value)}[{other}]", passed, origin, read)
                if made is not None:
                    yield made
                break


def _origin(gold: Gold, seen: Seen) -> Where | None:
    return in_response(gold, seen.call, seen.path, sure=False) if seen.call is not None else None


def _other_variable(gold: Gold, passed: Passed, rng: random.Random) -> Iterator[Mutant]:
    """Another variable of the same scope that was read before and held a value of some response."""
    if not isinstance(passed.given, ast.Name | ast.Subscript):
        return
    scope = _scope(gold, passed.given)
    before: dict[str, Seen] = {}
    for node in ast.walk(gold.tree):
        if not isinstance(node, ast.Name) or _scope(gold, node) is not scope:
            continue
        for one in gold.traced(node):
            if one.order < passed.seen.order and one.is_scalar and telling(one.value):
                before[node.id] = one
    own: Path = passed.seen.path
    names = sorted(name for name, one in before.items() if one.value != passed.seen.value and one.path != own)
    names = [name for name in names if name != getattr(passed.given, "id", None)]
    if names:
        name = rng.choice(names)
        made = _told(gold, "other_variable", passed.given, name, passed, _origin(gold, before[name]))
        if made is not None:
            yield made


def _scope(gold: Gold, node: ast.AST) -> ast.AST:
    """The function or comprehension that the name `node` stands in, else the program."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp
    return next((a for a in gold.ancestors(node) if isinstance(a, kinds | ast.GeneratorExp)), gold.tree)
