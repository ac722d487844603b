"""A FastAPI shop over SQLite, probed by its own document with writes allowed: as it was before, and known."""

import requests

from probing.document import protocols_of
from probing.probe import probe
from probing.samples import Log, ProbeSettings
from protocols.client import Invoker, InvokeSettings
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs import shop
from tests.labs.patience import PATIENCE
from toolflow_bench.services.serve import serve

SHOWN = ("/products", "/customers", "/customers/11/orders", "/customers/12/orders")


def test_probing_leaves_the_shop_as_it_was(tmp_path):
    settings = ProbeSettings(requests_per_second=None, allow_writes=True)
    with (
        serve(shop.app) as served,
        Invoker(InvokeSettings(retries=0)) as invoker,
        Log(tmp_path) as log,
    ):
        before = [requests.get(served.url + path, timeout=PATIENCE).json() for path in SHOWN]
        document = requests.get(f"{served.url}/openapi.json", timeout=10).json()
        protocols = read_openapi(document, where="the shop", base_url=served.url)
        toolbox = Toolbox(Tool(protocol=one, call=invoker.bind(one)) for one in protocols)
        probed = probe(toolbox, log, settings=settings)
        after = [requests.get(served.url + path, timeout=PATIENCE).json() for path in SHOWN]
    found = protocols_of(probed)
    assert {name for name, facts in probed.facts.items() if not facts.fruitful} == set()
    links = {
        (name.partition("_")[0], link.argument) for name, one in found.items() for link in one.links
    }
    assert {("list", "customer_id"), ("get", "order_id"), ("get", "product_id")} <= links
    for was, now in zip(before, after, strict=True):
        assert [record for record in was if record not in now] == []
    fresh = [
        record
        for was, now in zip(before, after, strict=True)
        for record in now
        if record not in was
    ]
    named = {
        text for one in probed.made if not one["removed"] for text in (*one["ids"], *one["marks"])
    }
    assert all(named & set(map(str, record.values())) for record in fresh)
    # Nothing takes an order away, and with its customer gone no list shows it any more.
    assert [(one["tool"], one["removed"]) for one in probed.made] == [
        ("add_customer", True),
        ("place_order", False),
    ]
