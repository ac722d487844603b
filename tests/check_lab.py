"""For the static check: toolboxes (an awkward shop, ToolFlow, RestBench, BFCL), and a corpus of programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from protocols.protocol import Evidence, ToolProtocol
from protocols.sources.openapi import read_openapi
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.services.document import document
from toolflow_bench.services.service import find_service

SHARED = Path(__file__).parents[2] / "shared"

TEXT, NUMBER, WHOLE, YES_NO = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}


def obj(*, optional: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [k for k in properties if k not in optional]}


def arr(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


STATUS = {"type": "string", "enum": ["open", "paid", "shipped", "cancelled"]}
DEFS: dict[str, Any] = {
    "Category": obj(id=WHOLE, name=TEXT, children=arr(ref("Category")), parent=maybe(ref("Category"))),
    "Company": obj(kind={"const": "company"}, name=TEXT, vat_id=TEXT),
    "Person": obj(kind={"const": "person"}, first_name=TEXT, last_name=TEXT),
    "Product": obj(
        sku=TEXT,
        title=TEXT,
        price=NUMBER,
        stock=WHOLE,
        rating={"type": ["number", "null"]},
        tags=arr(TEXT),
        dimensions=maybe(obj(width_cm=NUMBER, height_cm=NUMBER)),
        variants=arr(obj(color=TEXT, sizes=arr(TEXT))),
        seller={"oneOf": [ref("Company"), ref("Person")]},
        attributes={"type": "object", "additionalProperties": TEXT},
        category=ref("Category"),
        optional=("variants",),
    ),
    "Address": obj(street=TEXT, city=TEXT, country=TEXT),
    "Line": obj(sku=TEXT, quantity=WHOLE, unit_price=NUMBER),
    "Base": obj(order_id=WHOLE, status=STATUS),
    "Order": {
        "allOf": [
            ref("Base"),
            obj(
                placed_at={"type": "string", "format": "date-time"},
                customer_id=WHOLE,
                lines=arr(ref("Line")),
                shipping=obj(address=ref("Address"), carrier={"type": ["string", "null"]}, days={"type": "integer"}),
                payment={
                    "oneOf": [
                        obj(method={"const": "card"}, last4=TEXT),
                        obj(method={"const": "invoice"}, due_date=TEXT),
                    ]
                },
                totals={"type": "object", "additionalProperties": NUMBER},
                notes={"type": ["array", "null"], "items": TEXT},
                delay_days={"type": ["integer", "null"]},
            ),
        ]
    },
    "Customer": obj(customer_id=WHOLE, name=TEXT, email=TEXT, vip=YES_NO, last_order={"type": ["integer", "null"]}),
}


def tool(name: str, given: dict[str, Any], gives: dict[str, Any] | None, **more: Any) -> Tool:
    """`optional` arguments are named in `more`; `level` is how the protocol is known."""
    optional, level = more.pop("optional", ()), more.pop("level", "declared")
    protocol = ToolProtocol(
        name=name,
        input_schema={**obj(optional=optional, **given), "$defs": DEFS},
        output_schema=None if gives is None else {**gives, "$defs": DEFS},
        evidence=Evidence(level=level),
    )
    return Tool(protocol=protocol, call=lambda arguments: None)


SHOP = Toolbox(
    [
        tool(
            "search_products",
            {
                "query": TEXT,
                "category": {"type": "string", "enum": ["books", "games", "tools"]},
                "max_price": {"type": "number", "minimum": 0},
                "cursor": TEXT,
                "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            },
            obj(items=arr(ref("Product")), next_cursor={"type": ["string", "null"]}, total=WHOLE),
            optional=("category", "max_price", "cursor", "limit"),
        ),
        tool("get_product", {"sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"}}, ref("Product")),
        tool(
            "list_orders",
            {"customer_id": WHOLE, "status": STATUS, "since": {"type": "string", "format": "date"}},
            obj(orders=arr(ref("Order"))),
            optional=("status", "since"),
        ),
        tool("get_order", {"order_id": WHOLE}, ref("Order")),
        tool("find-customer", {"e-mail": TEXT}, obj(customer=maybe(ref("Customer")))),
        tool("get_customer", {"customer_id": WHOLE}, ref("Customer")),
        tool("list_customers", {"vip": YES_NO}, arr(ref("Customer")), optional=("vip",)),
        tool("get_stock_matrix", {}, obj(matrix=arr(arr(WHOLE)), warehouses=arr(TEXT))),
        tool("get_category_tree", {"root_id": WHOLE}, ref("Category")),
        tool("exchange_rates", {"base": TEXT}, {"type": "object", "additionalProperties": NUMBER}),
        tool("convert", {"amount": NUMBER, "source": TEXT, "target": TEXT}, obj(result=NUMBER)),
        tool("review_summary", {"sku": TEXT}, None),
        tool("log_event", {"payload": {"type": "object"}}, {"type": "object"}),
        tool("guess_price", {"sku": TEXT}, obj(price=NUMBER, currency=TEXT), level="guessed"),
        tool("seen_price", {"sku": TEXT}, obj(price={"type": ["integer", "null"]}, unit=TEXT), level="observed"),
        tool("list_warehouses", {}, arr(obj(code=TEXT, city=TEXT, capacity=WHOLE))),
        tool("count_visits", {"day": {"type": "string", "format": "date"}}, WHOLE),
        tool("get_text", {"name": TEXT}, TEXT),
        tool(
            "create_order",
            {
                "customer_id": WHOLE,
                "lines": arr(obj(sku=TEXT, quantity={"type": "integer", "minimum": 1})),
                "gift": YES_NO,
                "labels": arr(TEXT),
            },
            obj(order=ref("Order")),
            optional=("gift", "labels"),
        ),
        tool("page_of_tags", {"page": WHOLE}, obj(tags=arr(TEXT), more=YES_NO, page=WHOLE), optional=("page",)),
    ]
)


def service_protocols(name: str) -> list[ToolProtocol]:
    """The tools of a ToolFlow service as its own OpenAPI document has them; nothing is served."""
    service = find_service(name)
    described = document(service.operations, info=service.info, schemas=service.schemas, server="http://service.test")
    return read_openapi(described, where=name, base_url="http://service.test")


@cache
def services(*names: str) -> Toolbox:
    """The tools of ToolFlow services."""
    return Toolbox([_idle(protocol, name) for name in names for protocol in service_protocols(name)])


@cache
def restbench(name: str) -> Toolbox:
    return _openapi(json.loads((SHARED / "data/restbench" / f"{name}_oas.json").read_text("utf-8")), name)


def _openapi(described: dict[str, Any], name: str) -> Toolbox:
    return Toolbox([_idle(p, name) for p in read_openapi(described, where=name, base_url="http://service.test")])


def _idle(protocol: ToolProtocol, source: str) -> Tool:
    return Tool(protocol=protocol, call=lambda arguments: None, source=source)


@cache
def bfcl(only: str | None = None) -> Toolbox:
    """BFCL's functions, or those of one class, with their documented responses; their type names are translated."""
    documents = json.loads((SHARED / "data/bfcl/func_docs.json").read_text("utf-8"))
    tools = []
    for source in documents if only is None else [only]:
        for function in documents[source]:
            protocol = ToolProtocol(
                name=function["name"],
                input_schema=_json_schema(function["parameters"]),
                output_schema=_json_schema(function["response"]) if function.get("response") else None,
            )
            tools.append(_idle(protocol, source))
    return Toolbox(tools)


_TYPES = {"dict": "object", "float": "number", "list": "array", "tuple": "array", "any": None, "bool": "boolean"}


def _json_schema(node: Any) -> Any:
    if isinstance(node, list):
        return [_json_schema(part) for part in node]
    if not isinstance(node, dict):
        return node
    made = {key: _json_schema(value) for key, value in node.items()}
    kind = made.get("type")
    if isinstance(kind, str):
        made["type"] = _TYPES.get(kind.lower(), kind.lower())
        if made["type"] not in ("object", "number", "array", "boolean", "string", "integer"):
            del made["type"]
    return made


BOXES: dict[str, Callable[[], Toolbox]] = {
    "shop": lambda: SHOP,
    "spotify": lambda: restbench("spotify"),
    "tmdb": lambda: restbench("tmdb"),
    "bfcl": bfcl,
}


def toolbox(spec: str) -> Toolbox:
    """The toolbox that a program of the corpus names.

    One of `BOXES`, `bfcl:CLASS`, names of services, or `toolflow` with the aliases of tools of any service.
    """
    if spec in BOXES:
        return BOXES[spec]()
    if spec.startswith("toolflow "):
        return services("flights", "movies", "baseball", "places").only(spec.split()[1:])
    if spec.startswith("bfcl:"):
        return bfcl(spec.removeprefix("bfcl:"))
    return services(*spec.split())


def needs_shared(spec: str) -> bool:
    """Whether the toolbox comes from data that is not in the repository."""
    return spec.startswith("bfcl") or spec in ("spotify", "tmdb")


FOLDER = Path(__file__).with_name("data") / "check"


@dataclass(frozen=True)
class Case:
    """One line of a data file."""

    name: str
    tools: str
    """Its toolbox, as `check_lab.toolbox` reads it."""
    source: str
    expect: tuple[tuple[str, int], ...] = ()
    """Codes and lines, in the order of the lines."""
    says: tuple[str, ...] = ()
    """Words that the messages hold."""


def cases(name: str) -> list[Case]:
    """The programs of the data file `name`, without its `.jsonl`."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [
        Case(
            **row | {"expect": tuple((code, line) for code, line in row["expect"]), "says": tuple(row.get("says", ()))}
        )
        for row in rows
    ]


def present(name: str) -> list[Case]:
    """The programs of a data file, without those whose tools are in data that is not here."""
    return [case for case in cases(name) if SHARED.is_dir() or not needs_shared(case.tools)]
