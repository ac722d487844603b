"""`wrong_key`: a field of a response is read under a wrong name, or the object is taken for its field."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Mapping

from protocols.schema import resolve
from toolflow_bench.mutants.edit import bracketed
from toolflow_bench.mutants.making import Edit, in_response, mutant_of
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold, Seen
from toolflow_bench.mutants.passing import consumers

_OTHER_WORDS = {
    "name": "title",
    "title": "name",
    "total": "count",
    "date": "day",
    "season": "year",
    "year": "season",
    "code": "id",
    "id": "code",
    "born": "birth",
    "destination": "dest",
    "airline": "carrier",
    "latitude": "lat",
    "longitude": "lon",
    "page": "page_number",
    "pages": "total_pages",
}


def wrong_keys(gold: Gold, rng: random.Random) -> Iterator[Mutant]:
    """A mutant for each variant of each read of a response's field.

    `absent`: a name that no such object has. `polite`: the same through `.get`, so that None is passed on. `sibling`:
    another field of the same object. `forgotten`: the object itself. `doubled`: the field that the host has unwrapped
    already is asked for again.
    """
    for node in ast.walk(gold.tree):
        match node:
            case ast.Subscript(ctx=ast.Load(), slice=ast.Constant(value=str() as key)):
                seen = [one for one in gold.traced(node) if one.path and one.path[-1] == key]
                if seen:
                    yield from _of_read(gold, node, key, seen, rng)
            case ast.Call() if (alias := gold.alias(node)) is not None:
                wrapper = gold.toolbox[alias].wrapper
                first = gold.values(node)[0]
                if wrapper is not None and first.call is not None and gold.calls[first.call].error is None:
                    edit = Edit(node=node, text=f"{ast.unparse(node)}[{wrapper!r}]", variant="doubled")
                    whole = in_response(gold, first.call, (wrapper,), sure=True)
                    asked = in_response(gold, first.call, (wrapper, wrapper), sure=True)
                    made = mutant_of(gold, "wrong_key", edit, whole, (asked,))
                    if made is not None:
                        yield made


def _of_read(gold: Gold, node: ast.Subscript, key: str, seen: list[Seen], rng: random.Random) -> Iterator[Mutant]:
    first = seen[0]
    assert first.call is not None
    parent = first.path[:-1]
    known, siblings = _names(gold, first)
    holder = bracketed(node.value)
    absent = _absent(key, known, rng)
    others = sorted(name for name, value in siblings.items() if name != key and not isinstance(value, list | Mapping))
    always = gold.values(node)[0] == first
    options = [("absent", f"{holder}[{absent!r}]", (*parent, absent)), ("forgotten", holder, parent)]
    options.append(("polite", f"{holder}.get({absent!r})", (*parent, absent)))
    if others:
        other = rng.choice(others)
        options.append(("sibling", f"{holder}[{other!r}]", (*parent, other)))
    for variant, new, path in options:
        sure = always and (variant == "absent" or len(gold.values(node)) == 1)
        also = [in_response(gold, first.call, first.path, sure=sure)] if variant == "forgotten" else []
        also += consumers(gold, node) if variant in ("forgotten", "sibling") else []
        edit = Edit(node=node, text=new, variant=variant)
        made = mutant_of(gold, "wrong_key", edit, in_response(gold, first.call, path, sure=sure), also)
        if made is not None:
            yield made


def _names(gold: Gold, seen: Seen) -> tuple[set[str], Mapping[str, object]]:
    """Every field that the schema of the tool names anywhere, and the object's own fields with their values."""
    assert seen.call is not None
    holder = gold.response(seen.call, seen.path[:-1])
    own = dict(holder) if isinstance(holder, Mapping) else {}
    schema = gold.toolbox[gold.calls[seen.call].tool].protocol.output_schema or {}
    return {*own, *_properties(schema, schema, depth=8)}, own


def _properties(schema: object, root: Mapping[str, object], *, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth == 0:
        return
    found = resolve(schema, root)
    yield from found.get("properties", ())
    inner = [*found.get("properties", {}).values(), found.get("items"), *found.get("anyOf", ())]
    for one in inner:
        yield from _properties(one, root, depth=depth - 1)


def _absent(key: str, known: set[str], rng: random.Random) -> str:
    """A name that somebody might have written for `key`, and that no object of the response has."""
    words = key.split("_")
    made = [
        words[0] + "".join(word.capitalize() for word in words[1:]),
        "_".join(words[:-1]),
        "_".join(words[1:]),
        "_".join(_OTHER_WORDS.get(word, word) for word in words),
        key.removesuffix("s") if key.endswith("s") else f"{key}s",
        f"{key}_value",
        re.sub(r"[aeiou](?=\w)", "", key, count=1),
    ]
    fitting = [name for name in dict.fromkeys(made) if name and name not in known]
    return rng.choice(fitting) if fitting else f"{key}_x"
