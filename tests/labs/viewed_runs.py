"""Runs to look at: an order desk as a Python module, what a scripted model makes of it, runs of a thousand calls."""

from __future__ import annotations

import json
from pathlib import Path

from atc.core.events import (
    AttemptEnded,
    ModelAsked,
    ModelReplied,
    ProgramWritten,
    ToolCalled,
    ToolsChosen,
)
from atc.core.program import Program
from atc.core.types import Attempt, Solution, Usage
from atc.store import Store
from protocols.model import Completion, Message
from sandbox.trace import ToolCall, Trace

DESK = '''
"""An order desk."""

from typing import Any

CUSTOMERS = [{"id": 4117, "name": "Ada Nolan", "email": "ada@example.org"},
             {"id": 4240, "name": "Ben Nolan", "email": "ben@example.org"}]
ORDERS = {4117: [{"order_no": "A-2093", "item": "Desk lamp", "total": 48.5, "state": "delivered"},
                 {"order_no": "A-2107", "item": "Office chair", "total": 189.0, "state": "shipped"},
                 {"order_no": "A-2120", "item": "Notebook", "total": 6.9, "state": "shipped"}]}
SHIPMENTS = {"A-2107": {"carrier": "DPX", "code": "DPX-88120", "late_days": 9},
             "A-2120": {"carrier": "Post", "code": "RR-1931", "late_days": 0}}


def search_customers(name: str) -> dict[str, Any]:
    """Customers whose name contains a text.

    read_only = True
    """
    return {"results": [one for one in CUSTOMERS if name.lower() in one["name"].lower()], "total": 2}


def list_orders(customer_id: int, state: str | None = None) -> dict[str, Any]:
    """Orders of a customer, newest last.

    read_only = True
    """
    found = ORDERS.get(customer_id, [])
    return {"orders": [one for one in found if state in (None, one["state"])]}


def get_shipment(order_no: str) -> dict[str, Any]:
    """Where the parcel of an order is.

    read_only = True
    """
    return SHIPMENTS[order_no]


def refund_order(order_no: str, amount: float, reason: str = "") -> dict[str, Any]:
    """Give a customer money back."""
    return {"refund": "R-501", "order_no": order_no, "amount": amount}
'''

TASK = "Give Ada Nolan back 10% of each shipped order that is more than a week late, and say how much that is."
WRONG = """customer = search_customers(name="Ada Nolan")["results"][0]
orders = list_orders(customer_id=customer["id"], state="shipped")["orders"]
late = []
for order in orders:
    if order["days"] > 7:
        late.append(order)
print(len(late))
"""
RIGHT = """# Late by more than a week: 10% back.
customer = search_customers(name="Ada Nolan")["results"][0]
orders = list_orders(customer_id=customer["id"], state="shipped")["orders"]
total = 0.0
for order in orders:
    shipment = get_shipment(order_no=order["order_no"])
    if shipment["late_days"] > 7:
        refund = refund_order(order_no=order["order_no"], amount=round(order["total"] / 10, 2), reason="late")
        total += refund["amount"]
print(f"{total:.2f} refunded")
"""


def fenced(source: str) -> str:
    return f"```python\n{source}```"


def desk(folder: Path, *programs: str) -> list[str]:
    """Write the desk and a script of replies; gives the options by which `atc run` uses them."""
    (folder / "desk.py").write_text(DESK)
    (folder / "replies.json").write_text(json.dumps([fenced(program) for program in programs]))
    return [
        "--tools",
        str(folder / "desk.py"),
        "--model",
        f"scripted:{folder / 'replies.json'}",
        "--sandbox",
        "unconfined",
    ]


def many_calls(
    store: Store, count: int, *, running: bool = False, task: str = "Page through everything."
) -> str:
    """A stored run of so many calls, each with a value of an earlier one."""
    source = 'page = list_pages(after="")\nfor n in range(1000):\n    page = list_pages(after=page["next"])\nprint("done")\n'
    run = store.create(
        task, model="scripted", strategy="chain", sandbox="zygote", tools=("list_pages",)
    )
    observe = store.observer(run)
    observe(ToolsChosen(("list_pages",), 1))
    observe(ModelAsked("write", (Message("user", task),)))
    observe(
        ModelReplied(
            "write",
            Completion(
                text=fenced(source),
                model="scripted",
                input_tokens=900,
                output_tokens=60,
                seconds=1.5,
            ),
        )
    )
    observe(ProgramWritten(0, Program(source), ()))
    calls = []
    for n in range(count):
        after = f"cursor-{n - 1:04}" if n else ""
        rows = [{"id": 100 * n + k, "name": f"row {n}.{k}"} for k in range(5)]
        call = ToolCall(index=n, tool="list_pages", arguments={"after": after}, line=3 if n else 1,
                        result={"rows": rows, "next": f"cursor-{n:04}"}, started=n * 0.01, seconds=0.008)  # fmt: skip
        calls.append(call)
        observe(ToolCalled(0, call))
    if not running:
        trace = Trace(calls=tuple(calls), stdout="done\n", seconds=count * 0.01, backend="zygote")
        attempt = Attempt(Program(source), (), trace, None, execution=0)
        observe(AttemptEnded(0, attempt))
        usage = Usage(model_calls=1, input_tokens=900, output_tokens=60, model_seconds=1.5)
        store.finish(
            run,
            Solution(task=task, attempts=(attempt,), status="solved", answer="done", usage=usage),
        )
    return run
