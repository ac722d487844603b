"""Requests that send files, over real HTTP."""

import base64
from email import message_from_bytes

import pytest

from protocols.client import Invoker
from protocols.errors import ToolError
from protocols.files import file_of_bytes
from tests.labs.loopback import Reply, http_tool, serving

DATA = bytes(range(256)) * 3000
BINARY = {"type": "string", "format": "binary"}


@pytest.fixture
def sent():
    """`sent(arguments, …)` calls a tool and returns the request that arrived."""
    with serving(lambda _: Reply(body={"ok": True})) as server, Invoker() as invoker:

        def send(arguments, properties, **binding):
            protocol = http_tool(server.url, "POST", properties=properties, **binding)
            invoker.bind(protocol)(arguments)
            return server.last

        yield send


def parts_of(request):
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    return message_from_bytes(head + request.body).get_payload()


def test_a_form_has_the_bytes_name_and_type(sent):
    file = file_of_bytes(DATA, "a chart.png", "image/png")
    request = sent(
        {"file": file, "title": "x"},
        {"file": BINARY, "title": {"type": "string"}},
        locations={"file": "form", "title": "form"},
        media="multipart/form-data",
    )
    parts = {
        part.get_param("name", header="content-disposition"): part for part in parts_of(request)
    }
    assert parts["file"].get_payload(decode=True) == DATA
    assert parts["file"].get_filename() == "a chart.png"
    assert parts["file"].get_content_type() == "image/png"
    assert parts["title"].get_payload() == "x"
    assert request.headers["content-length"] == str(len(request.body))


def test_a_form_sends_each_file_of_a_list(sent):
    files = [file_of_bytes(text, "a.txt", "text/plain") for text in (b"one", b"two")]
    request = sent(
        {"files": files},
        {"files": {"type": "array", "items": BINARY}},
        locations={"files": "form"},
        media="multipart/form-data",
    )
    assert [part.get_payload() for part in parts_of(request)] == ["one", "two"]


@pytest.mark.parametrize(
    ("media", "sent_as"), [("text/csv", "text/csv"), ("application/octet-stream", "image/png")]
)
def test_a_whole_body_is_the_file(sent, media, sent_as):
    file = file_of_bytes(DATA, "a.png", "image/png")
    schema = {"body": {"type": "string", "contentMediaType": media}}
    request = sent({"body": file}, schema, body_argument="body", media=media)
    assert request.body == DATA
    assert request.headers["content-type"] == sent_as


def test_json_has_the_file_as_base64(sent):
    file = file_of_bytes(DATA, "a.png", "image/png")
    schema = {"image": {"type": "string", "format": "byte"}}
    request = sent({"image": file}, schema, locations={"image": "body"})
    assert request.body == b'{"image":"' + base64.b64encode(DATA) + b'"}'


def test_a_query_takes_no_file(sent):
    file = file_of_bytes(b"x", "a.txt")
    with pytest.raises(ToolError, match="argument 'q' stands in the query, which takes no file"):
        sent({"q": file}, {"q": BINARY}, locations={"q": "query"})


def test_a_failed_upload_is_shown_without_its_bytes():
    file = file_of_bytes(DATA, "a.png", "image/png")
    with serving(lambda _: Reply(500, {})) as server, Invoker() as invoker:
        schema = {"file": BINARY}
        where = {"locations": {"file": "form"}, "media": "multipart/form-data"}
        call = invoker.bind(http_tool(server.url, "POST", properties=schema, **where))
        with pytest.raises(ToolError) as caught:
            call({"file": file})
    assert len(caught.value.curl) < 1000
