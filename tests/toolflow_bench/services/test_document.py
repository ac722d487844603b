"""The OpenAPI document of a service."""

from toolflow_bench.services.document import document
from toolflow_bench.services.operation import Operation


def test_a_document_lists_the_operations():
    entry = {"operationId": "get_note", "summary": "A note.", "responses": {"200": {}}}
    operation = Operation(path="/note", method="get", entry=entry, handler=lambda *_: {})
    built = document(
        [operation], info={"title": "t", "version": "1"}, schemas={}, server="http://x"
    )
    assert built["openapi"].startswith("3.1")
    assert built["paths"]["/note"]["get"]["operationId"] == "get_note"
