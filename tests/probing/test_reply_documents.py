"""JSON values, messages and paths in error replies."""

import json

import pytest

from probing.reply_documents import iter_messages, read_document, split_path, words_of_error


@pytest.mark.parametrize("path", ["/items/0/price", "items[0].price", "#/items/0/price"])
def test_paths_are_read_in_every_notation(path):
    assert split_path(path) == ("items", "0", "price")


def test_a_list_of_errors_is_found_in_text():
    issues = [{"path": ["limit"], "message": "Required"}]
    assert read_document(f"Invalid input: {json.dumps(issues)} (400)") == issues
    assert read_document("Invalid input") is None


def test_messages_and_codes_become_words():
    assert list(iter_messages({"message": "no", "id": "x1", "more": ["two words"]})) == [
        "no",
        "two words",
    ]
    assert words_of_error({"message": "Too long"}) == "Too long"
