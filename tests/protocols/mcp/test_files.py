"""Files in the content of MCP results and in arguments."""

import base64

import pytest

from protocols.errors import ToolError
from protocols.files import file_of_bytes, files_in
from protocols.http.credentials import Mask
from protocols.http.file_bodies import MOST_IN_JSON
from protocols.mcp.files import file_of_block, masked_value, sendable_arguments


def block(data=b"abc", **more):
    return {"type": "image", "data": base64.b64encode(data).decode(), **more}


@pytest.mark.parametrize(
    ("described", "name", "media"),
    [
        (block(mimeType="image/png"), "image.png", "image/png"),
        (block(mimeType="nonsense"), "image", "application/octet-stream"),
        (block(name="../../.bashrc", mimeType="text/plain"), "bashrc", "text/plain"),
        ({"uri": "file:///a/chart.webp", "blob": "YQ=="}, "chart.webp", "application/octet-stream"),
    ],
)
def test_a_block_with_bytes_is_a_file(described, name, media):
    file = file_of_block(described)
    assert (file.info.name, file.info.media_type) == (name, media)


@pytest.mark.parametrize("data", [None, 5, "no base64!", "YQ"])
def test_a_block_without_bytes_is_none(data):
    assert file_of_block({"type": "image", "data": data}) is None


def test_a_credential_in_a_file_is_masked():
    secret = "sk-test-0123456789"
    value = [{"a": secret}, file_of_block(block(b"key: " + secret.encode()))]
    masked = masked_value(value, Mask([secret]))
    assert masked[0] == {"a": "***"}
    assert [file.whole() for file in files_in(masked).values()] == [b"key: ***"]


def test_a_file_is_sent_as_base64():
    file = file_of_bytes(b"abc", "a.txt")
    sent = sendable_arguments("f", {"image": file, "all": [{"one": file}]})
    assert sent == {"image": "YWJj", "all": [{"one": "YWJj"}]}


def test_a_file_that_is_too_large_is_refused():
    file = file_of_bytes(b"x" * (MOST_IN_JSON + 1), "a.bin")
    with pytest.raises(ToolError, match=r"is over 32 MB, the most that JSON may carry"):
        sendable_arguments("f", {"image": file})
