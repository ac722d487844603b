"""Calls to a service drawn by seed: arguments by the schemas of its document, ids from its answers by its links."""

from __future__ import annotations

import random
import re
from collections import defaultdict, deque
from collections.abc import Iterable
from functools import cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import requests
from hypothesis import Phase, find, settings
from hypothesis import strategies as st

Operation = dict[str, Any]


class ServiceClient:
    """Knows a service by its document alone.

    `known` maps (operation, parameter) to values that answers held, `rows` an operation to arguments that stood
    together: in one object of an answer, with what it was asked for. `succeeded` has every operation that ever did.
    """

    def __init__(self, url: str) -> None:
        self.url, self.session = url, requests.Session()
        self.document = self.session.get(f"{url}/openapi.json", timeout=10).json()
        self.operations: dict[str, tuple[str, str, Operation]] = {
            described["operationId"]: (method.upper(), path, described)
            for path, methods in self.document["paths"].items()
            for method, described in methods.items()
        }
        self.known: dict[tuple[str, str], dict[Any, None]] = defaultdict(dict)
        self.rows: dict[str, deque[dict[str, Any]]] = defaultdict(lambda: deque(maxlen=100))
        self.succeeded: set[str] = set()
        self._parameters = {operation: self._parameters_of(operation) for operation in self.operations}
        self._links = {operation: [*self._links_of(operation)] for operation in self.operations}
        self._validators: dict[tuple[str, str], Any] = {}

    def parameters(self, operation: str) -> dict[str, dict[str, Any]]:
        """By name: where it travels, whether it is required, its schema and description. Headers are left out."""
        return self._parameters[operation]

    def _parameters_of(self, operation: str) -> dict[str, dict[str, Any]]:
        described = self.operations[operation][2]
        found = {p["name"]: p for p in described["parameters"] if p["in"] != "header"}
        body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for name, schema in body.get("properties", {}).items():
            required, description = name in body["required"], schema["description"]
            found[name] = {"in": "body", "required": required, "schema": schema, "description": description}
        return found

    def send(self, operation: str, arguments: dict[str, Any], **headers: str) -> requests.Response:
        method, path, _ = self.operations[operation]
        places = {name: parameter["in"] for name, parameter in self.parameters(operation).items()}
        loose = "body" if method in ("POST", "PUT", "PATCH") else "query"
        sorted_in: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for name, value in arguments.items():
            sorted_in[places.get(name, loose)][name] = value
        for name, value in sorted_in["path"].items():
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
        query = {k: str(v).lower() if isinstance(v, bool) else v for k, v in sorted_in["query"].items()}
        body = sorted_in["body"] if loose == "body" else None
        return self.session.request(method, self.url + path, params=query, json=body, headers=headers, timeout=10)

    def check(self, operation: str, answer: requests.Response) -> None:
        """The status is documented, and the body is what the document says of it."""
        responses, status = self.operations[operation][2]["responses"], str(answer.status_code)
        assert status in responses, f"{operation}: {status} is not documented: {answer.text}"
        assert status != "500", f"{operation}: {answer.text}"
        if (operation, status) not in self._validators:
            schema = self.follow(responses[status])["content"]["application/json"]["schema"]
            whole = {**schema, "components": self.document["components"]}
            self._validators[operation, status] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        self._validators[operation, status].validate(answer.json())

    def follow(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            target: Any = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            value = target
        return value

    def links(self, operation: str) -> list[tuple[list[str], str, str]]:
        """Pointer into the answer, consumer, parameter."""
        return self._links[operation]

    def _links_of(self, operation: str) -> Iterable[tuple[list[str], str, str]]:
        for status, response in self.operations[operation][2]["responses"].items():
            for link in response.get("links", {}).values() if status.startswith("2") else ():
                for parameter, expression in link["parameters"].items():
                    yield expression.removeprefix("$response.body#/").split("/"), link["operationId"], parameter

    def harvest(self, operation: str, arguments: dict[str, Any], body: Any) -> None:
        """Keep what the links point at; `/flights/0/id` stands for every flight's id. One name means one thing."""
        self.succeeded.add(operation)
        for pointer, consumer, parameter in self.links(operation):
            taken = self.parameters(consumer)
            holders = [body]
            for step in pointer[:-1]:
                if step == "0":
                    holders = [item for holder in holders for item in holder]
                else:
                    holders = [holder[step] for holder in holders if isinstance(holder, dict)]
            for holder in holders[:10]:
                plain = holder if isinstance(holder, dict) else {}
                value = plain.get(pointer[-1]) if plain else holder[0] if pointer[-1] == "0" and holder else None
                if value is not None:
                    beside = {
                        k: v
                        for k, v in {**arguments, **plain}.items()
                        if k in taken and isinstance(v, str | int | float)
                    }
                    self._keep({**beside, parameter: value}, consumer)

    def _keep(self, row: dict[str, Any], consumer: str) -> None:
        self.rows[consumer].append(row)
        for name, value in row.items():
            pattern = self.parameters(consumer)[name]["schema"].get("pattern", "")
            for key in ((consumer, name), ("", name), ("", pattern)):
                if len(self.known[key]) < 100:
                    self.known[key][value] = None

    def draw(self, operation: str, rng: random.Random) -> dict[str, Any]:
        """Arguments that the schemas allow; those that other answers held come first."""
        arguments = {}
        together = rng.choice(self.rows[operation]) if self.rows[operation] and rng.random() < 0.7 else {}
        for name, parameter in self.parameters(operation).items():
            if not parameter["required"] and rng.random() < 0.6:
                continue
            schema = parameter["schema"]
            pool = self.known[operation, name] or self.known["", name] or self.known["", schema.get("pattern", name)]
            if name in together and rng.random() < 0.95 and together[name] in schema.get("enum", [together[name]]):
                arguments[name] = together[name]
            elif pool and "enum" not in schema and rng.random() < 0.9:
                arguments[name] = rng.choice(list(pool))
            else:
                arguments[name] = fitting(schema, rng, parameter["description"])
        return arguments


def fitting(schema: dict[str, Any], rng: random.Random, description: str = "") -> Any:
    """A value that `schema` allows; a date is among those that its description names, or near them."""
    if offered := schema.get("enum") or (schema.get("examples") if rng.random() < 0.7 else None):
        return rng.choice(offered)
    match schema["type"]:
        case "boolean":
            return rng.random() < 0.5
        case "integer":
            low = schema.get("minimum", 0)
            return rng.choice([low, rng.randint(low, schema.get("maximum", low + 1000))])
        case "number":
            low = schema.get("minimum", 0)
            return round(rng.uniform(low, schema.get("maximum", low + 1000)), 3)
    if schema.get("format") == "date":
        named = re.findall(r"\d{4}-\d\d-\d\d", description) or ["2005-08-28", "2013-07-04"]
        return rng.choice([*named, f"{rng.choice(named)[:4]}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"])
    if "pattern" in schema:
        return matching(schema["pattern"])
    words = ["new york", "star", "a", "Boston", "é%'\"", "the"]
    text = rng.choice(words).ljust(schema.get("minLength", 0), "x")
    return text[: schema.get("maxLength", 80)]


@cache
def matching(pattern: str) -> str:
    """A text of a pattern."""
    chosen = settings(database=None, derandomize=True, phases=[Phase.generate])  # to shrink it would take seconds
    found: str = find(st.from_regex(pattern, fullmatch=True), lambda _text: True, settings=chosen)
    return found
