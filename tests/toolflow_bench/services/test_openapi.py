"""The loader of a service's description."""

from toolflow_bench.services.openapi import operation_of


def test_a_description_becomes_an_operation():
    entry = {"operationId": "get_note", "summary": "A note.", "responses": {"200": {}}}
    operation = operation_of("/note", "get", entry, lambda *_: {"text": "x"})
    assert (operation.id, operation.success, operation.writes) == ("get_note", 200, False)
