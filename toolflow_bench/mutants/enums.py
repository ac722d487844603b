"""`wrong_enum`: a word that is not one of those allowed, or not the one that was meant."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from protocols.jsontypes import JsonObject
from protocols.schema import resolve
from toolflow_bench.mutants.making import Edit, empty_answers, in_response, mutant_of, of_argument
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold

_CODE = re.compile(r"[A-Z0-9][A-Z0-9-]{0,5}|[a-z]+(_[a-z]+)*")
"""What words look like of which there are but a few."""


def wrong_enums(gold: Gold, rng: random.Random) -> Iterator[Mutant]:
    """A mutant for each variant of each such word.

    `outside`: an argument that its schema does not allow. `other`: one that it allows, but not the right one.
    `compared`: a field of a response is compared with a word that it never has.
    """
    for site in gold.tool_calls():
        parameters = _parameters(gold, site)
        for keyword in site.keywords:
            schema = parameters.get(keyword.arg or "", {})
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str) and "enum" in schema:
                yield from _of_argument(gold, site, keyword, schema, rng)
    for node in ast.walk(gold.tree):
        match node:
            case ast.Compare(left=field, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str()) as word]):
                yield from _compared(gold, field, word, rng)


def _parameters(gold: Gold, site: ast.Call) -> dict[str, JsonObject]:
    """The schemas of a call's arguments, by alias."""
    tool = gold.toolbox[gold.alias(site) or ""]
    every, root = tool.protocol.parameters, tool.protocol.input_schema
    return {alias: resolve(every.get(name, {}), root) for alias, name in tool.arguments.items()}


def _of_argument(
    gold: Gold, site: ast.Call, keyword: ast.keyword, schema: JsonObject, rng: random.Random
) -> Iterator[Mutant]:
    assert isinstance(keyword.value, ast.Constant)
    assert keyword.arg is not None
    word = str(keyword.value.value)
    allowed = [one for one in schema["enum"] if isinstance(one, str)]
    once = len(gold.values(site)) == 1
    options = [("outside", _outside(word, set(allowed), rng), True)]
    others = [one for one in allowed if one != word]
    if others:
        options.append(("other", rng.choice(others), once))
    for variant, new, sure in options:
        edit = Edit(node=keyword.value, text=repr(new), variant=variant)
        truth = of_argument(gold, site, keyword.arg, sure=sure)
        made = mutant_of(gold, "wrong_enum", edit, truth, empty_answers(gold, site))
        if made is not None:
            yield made


def _compared(gold: Gold, field: ast.expr, word: ast.Constant, rng: random.Random) -> Iterator[Mutant]:
    seen = gold.traced(field)
    if not seen or not seen[0].path or not _CODE.fullmatch(str(word.value)):
        return
    first = seen[0]
    assert first.call is not None
    known = {one.value for one in gold.values(field) if isinstance(one.value, str)}
    edit = Edit(node=word, text=repr(_outside(str(word.value), known, rng)), variant="compared")
    truth = in_response(gold, first.call, first.path, sure=len({one.call for one in gold.values(field)}) == 1)
    made = mutant_of(gold, "wrong_enum", edit, truth)
    if made is not None:
        yield made


def _outside(word: str, allowed: set[str], rng: random.Random) -> str:
    """A word that means the same to a person, but is not allowed."""
    made = [word.lower(), word.upper(), word.title(), word.replace("_", "-"), word.replace("_", " "), f"{word}s"]
    fitting = [one for one in dict.fromkeys(made) if one not in allowed and one != word]
    return rng.choice(fitting)
