"""The three laws of schema inference, on any JSON: conformance, what is known stays allowed, strictness."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probing.infer import Inference, infer
from protocols.links import response_paths
from protocols.schema import validator
from tests.invented_service import Service

KEYS = ["a", "b", "c", "id", "type", "items", "node", "", "ü", "x.y", "2024-01-01", "2024-02-01", "17", "4", "USD"]
WORDS = ["", "on", "off", "x", "2024-05-06", "2024-05-07", "https://a.example/b", "é\u2028", "12"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**40, -(2**63), 0.5, -2.25, 1e-7]),
    st.sampled_from(WORDS),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=3)
services = st.integers(0, 10**6).map(lambda seed: Service(Random(seed)))
replies = st.one_of(
    st.lists(values, min_size=1, max_size=5),
    st.tuples(services, st.integers(1, 7)).map(lambda drawn: [drawn[0].reply() for _ in range(drawn[1])]),
)
brisk = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


def conforms(schema: dict[str, Any], value: Any) -> bool:
    return validator(schema).is_valid(value)


# --- 1: every reply conforms, after every sample


@brisk
@given(replies)
def test_every_reply_conforms_after_every_sample(samples: list[Any]) -> None:
    inference = Inference()
    for number, sample in enumerate(samples, 1):
        inference.add(sample)
        schema = inference.schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        assert all(conforms(schema, one) for one in samples[:number])
        assert jsonschema.Draft202012Validator(schema).is_valid(sample)


@brisk
@given(replies, st.randoms(use_true_random=False))
def test_order_does_not_matter(samples: list[Any], random: Any) -> None:
    mixed = list(samples)
    random.shuffle(mixed)
    assert infer(mixed) == infer(samples)


@brisk
@given(replies)
def test_a_schema_that_is_known_already_is_not_changed(samples: list[Any]) -> None:
    before = copy.deepcopy(samples)
    schema = infer(samples)
    assert infer(samples, known=schema) == schema
    assert samples == before


@brisk
@given(replies)
def test_fields_are_the_paths_of_the_schema(samples: list[Any]) -> None:
    inference = Inference()
    for sample in samples:
        inference.add(sample)
    paths = {path for path, _ in response_paths(inference.schema())} - {""}
    counted = inference.fields()
    assert paths <= counted.keys()
    assert {path for path in counted if "*" not in path} <= paths
    assert all(1 <= count <= len(samples) for count in counted.values())


# --- 2: what a known document allows stays allowed


@st.composite
def documents(draw: Any, depth: int = 3) -> dict[str, Any]:
    """A document of a response, as people write them."""
    kind = draw(st.sampled_from(["scalar", "enum", "object", "array", "map", "union", "all"] if depth else ["scalar"]))
    inner = documents(depth - 1)
    match kind:
        case "enum":
            return {"enum": draw(st.lists(st.sampled_from(["on", "x", None, 3]), min_size=1, unique=True))}
        case "object":
            properties = draw(st.dictionaries(st.sampled_from(KEYS), inner, max_size=3))
            required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
            closed = draw(st.sampled_from([{}, {"additionalProperties": False}]))
            return {"type": "object", "properties": properties, "required": required, **closed}
        case "array":
            return {"type": draw(st.sampled_from(["array", ["array", "null"]])), "items": draw(inner)}
        case "map":
            return {"type": "object", "additionalProperties": draw(inner)}
        case "union":
            return {"anyOf": [draw(inner), draw(inner)]}
        case "all":
            return {"allOf": [draw(inner)]}
    name = draw(st.sampled_from(["string", "integer", "number", "boolean", "null"]))
    facets = {"string": {"maxLength": 3}, "integer": {"minimum": -1}, "number": {"maximum": 2}}
    return {"type": name, **(facets.get(name, {}) if draw(st.booleans()) else {})}


def instances(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a document allows, its objects having no other keys than it names."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([instances(part) for part in schema["anyOf"]])
    if "allOf" in schema:
        return instances(schema["allOf"][0])
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_of_type(name, schema) for name in names])


def _of_type(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    match name:
        case "object" if "properties" in schema:
            parts = {key: instances(part) for key, part in schema["properties"].items()}
            must = {key: part for key, part in parts.items() if key in schema["required"]}
            return st.fixed_dictionaries(must, optional={key: part for key, part in parts.items() if key not in must})
        case "object":
            return st.dictionaries(st.sampled_from(KEYS), instances(schema["additionalProperties"]), max_size=3)
        case "array":
            return st.lists(instances(schema["items"]), max_size=3)
        case "string":
            return st.sampled_from([word for word in WORDS if len(word) <= schema.get("maxLength", 99)])
        case "integer":
            return st.integers(schema.get("minimum", -9), 9)
        case "number":
            return st.sampled_from([-1, 0.5, 2, *([] if "maximum" in schema else [7.25])])
    return st.booleans() if name == "boolean" else st.none()


@brisk
@given(documents(), st.data())
def test_what_a_document_allows_stays_allowed(known: dict[str, Any], data: Any) -> None:
    # Replies that are partly as the document says, or have fields that it does not know, are what is hard.
    extended = st.builds(lambda one, more: one | more if isinstance(one, dict) else one, instances(known), objects)
    samples = data.draw(st.lists(st.one_of(instances(known), extended, values), max_size=4))
    schema = infer(samples, known=known)
    allowed = data.draw(st.lists(instances(known), min_size=1, max_size=4))
    assert all(conforms(known, value) for value in allowed), "the test's own instances"
    assert all(conforms(schema, value) for value in [*samples, *allowed])


@brisk
@given(documents(), st.data())
def test_replies_that_a_document_describes_change_nothing_of_what_is_allowed(known: Any, data: Any) -> None:
    samples = data.draw(st.lists(instances(known), min_size=1, max_size=4))
    schema = infer(samples, known=known)
    for value in [*data.draw(st.lists(values, max_size=6)), *data.draw(st.lists(instances(known), max_size=3))]:
        assert conforms(schema, value) == conforms(known, value), json.dumps(schema)


# --- 3: as strict as both permit


def tightened(schema: Any, whole: Any = None) -> Iterator[tuple[str, Any]]:
    """The schema with one type less, one key more required, or whole numbers alone, each at one place."""
    whole = schema if whole is None else whole
    for holder in _holders(schema):
        named = holder.get("type")
        for kind in named if isinstance(named, list) else []:
            yield from _changed(whole, holder, f"no {kind}", type=[other for other in named if other != kind])
        if "number" in (named if isinstance(named, list) else [named]):
            kinds = [named] if isinstance(named, str) else named
            yield from _changed(whole, holder, "integer", type=["integer" if k == "number" else k for k in kinds])
        for key in holder.get("properties", {}).keys() - set(holder.get("required", ())):
            yield from _changed(whole, holder, f"requires {key}", required=[*holder.get("required", ()), key])


def _changed(whole: Any, holder: Any, label: str, **keywords: Any) -> Iterator[tuple[str, Any]]:
    before = dict(holder)
    holder.update(keywords)
    yield label, copy.deepcopy(whole)
    holder.clear()
    holder.update(before)


def _holders(schema: Any) -> Iterator[Any]:
    if isinstance(schema, dict):
        yield schema
        for key in ("properties", "$defs"):
            for part in list(schema.get(key, {}).values()):
                yield from _holders(part)
        for key in ("items", "additionalProperties"):
            yield from _holders(schema.get(key))
        for key in ("oneOf", "anyOf"):
            for part in schema.get(key, []):
                yield from _holders(part)


@brisk
@given(replies)
def test_whatever_is_made_stricter_refuses_a_reply(samples: list[Any]) -> None:
    schema = infer(samples)
    for label, stricter in tightened(copy.deepcopy(schema)):
        assert not all(conforms(stricter, sample) for sample in samples), (label, schema)


# --- any JSON at all


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: {"a": [inner, 1]}])
@pytest.mark.parametrize("depth", [70, 200])
def test_deep_replies_conform_and_deeper_ones_too(wrap: Any, depth: int) -> None:
    value: Any = "end"
    for _ in range(depth):
        value = wrap(value)
    schema = infer([value])
    assert conforms(schema, value)
    assert conforms(schema, wrap(wrap(value)))


def test_very_deep_replies_do_not_crash() -> None:
    value: Any = 1
    for number in range(900):
        value = {f"k{number}": value, "other": [value] if number % 100 == 0 else None}
    assert infer([value])["type"] == "object"


def test_an_empty_inference_allows_anything() -> None:
    assert infer([]) == {}
    assert infer([], known={"type": "string", "maxLength": 3}) == {"type": "string", "maxLength": 3}
