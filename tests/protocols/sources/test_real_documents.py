"""Documents that others wrote: each loads whole, every schema compiles, and it comes back from our own export."""

import importlib.util
import json
import subprocess
import sys

import pytest

from benchmarks.shared_data import folder
from protocols.export import to_openapi
from protocols.links import guess_links
from protocols.protocol import HttpBinding
from protocols.sources.openapi import read_openapi
from protocols.validate import validator
from tests.labs.paths import DATA
from tests.labs.patience import PATIENCE

SCRIPT = DATA / "openapi_of.py"
METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
BASE = {"glances": "http://127.0.0.1:61208"}
LEAST_PATHS = {"tmdb": 54, "spotify": 30, "httpbin": 52, "kinto": 20, "glances": 34}
RESTBENCH = ("spotify", "tmdb")
DOCUMENTS = [
    pytest.param(name, marks=pytest.mark.data("restbench") if name in RESTBENCH else ())
    for name in sorted(LEAST_PATHS)
]


@pytest.fixture(scope="module", params=DOCUMENTS)
def document(request, tmp_path_factory):
    """The file of one real document."""
    name = request.param
    if name in RESTBENCH:
        return name, folder("restbench") / f"{name}_oas.json"
    if importlib.util.find_spec(name) is None:
        pytest.skip(
            f"the package {name} is not installed (pip install 'automatic-tool-chain[documents]')"
        )
    place = tmp_path_factory.mktemp(name)
    file = place / f"{name}.json"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SCRIPT, name, file],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return name, file


@pytest.fixture(scope="module")
def protocols(document):
    name, file = document
    return read_openapi(json.loads(file.read_text()), where=str(file), base_url=BASE.get(name))


def test_every_operation_is_there(document, protocols):
    name, file = document
    paths = json.loads(file.read_text())["paths"]
    assert len(paths) >= LEAST_PATHS[name]
    assert len(protocols) == sum(len(METHODS & item.keys()) for item in paths.values())
    if name in RESTBENCH:
        assert len(protocols) == {"tmdb": 54, "spotify": 40}[name]
    assert len({protocol.name for protocol in protocols}) == len(protocols)


def test_every_schema_compiles_alone(protocols):
    for protocol in protocols:
        for schema in (
            protocol.input_schema,
            protocol.output_schema,
            *(error.schema for error in protocol.errors),
        ):
            if schema is not None:
                validator(schema)


def test_every_binding_is_complete(protocols):
    for protocol in protocols:
        binding = protocol.binding
        assert isinstance(binding, HttpBinding)
        assert binding.locations.keys() == protocol.parameters.keys()
        in_url = {
            binding.wire_names.get(n, n)
            for n, place in binding.locations.items()
            if place == "path"
        }
        assert all(f"{{{name}}}" in binding.url for name in in_url)
        assert binding.url.count("{") == len(in_url)
        assert protocol.required <= protocol.parameters.keys()


def test_links_point_to_tools_and_arguments_that_exist(protocols):
    names = {protocol.name for protocol in protocols}
    for protocol in guess_links(protocols):
        for link in protocol.links:
            assert link.tool in names - {protocol.name}
            assert link.argument in protocol.parameters


def test_exports_are_read_back_unchanged(protocols):
    exported = json.loads(json.dumps(to_openapi(protocols, protocols[0].collection)))
    assert read_openapi(exported, where="exported") == protocols
