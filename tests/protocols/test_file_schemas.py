"""Which schemas describe a file."""

import pytest

from protocols.file_schemas import is_file_response, takes_file

BINARY = {"type": "string", "format": "binary"}


@pytest.mark.parametrize(
    ("schema", "is_file", "takes"),
    [
        (BINARY, True, True),
        ({"anyOf": [BINARY, {"type": "null"}]}, True, True),
        ({"type": "string", "contentMediaType": "image/png"}, True, True),
        ({"type": "string", "contentMediaType": "text/csv"}, False, True),
        (
            {"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"},
            False,
            True,
        ),
        ({"type": "string", "format": "byte"}, False, True),
        ({"type": "array", "items": BINARY}, False, True),
        ({"type": "string"}, False, False),
        ({"type": "object", "properties": {"a": BINARY}}, False, False),
        ({}, False, False),
    ],
)
def test_a_file_is_told_by_format_or_type(schema, is_file, takes):
    assert is_file_response(schema) == is_file
    assert takes_file(schema, schema) == takes
