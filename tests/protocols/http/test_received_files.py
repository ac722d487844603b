"""Response bodies that become files, over real HTTP."""

import gzip
import hashlib

import pytest

from protocols.client import Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.files import FileValue
from protocols.settings import Credential
from protocols.tool import Tool
from tests.labs.loopback import Reply, http_tool, serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
DECLARED = {"type": "string", "format": "binary"}


def send(body, headers, *, output=None, path="", **settings):
    reply = Reply(200, body, headers)
    with (
        serving(lambda _: reply) as server,
        Invoker(InvokeSettings(**settings)) as invoker,
    ):
        protocol = http_tool(f"{server.url}{path}", output=output)
        return Tool(protocol=protocol, call=invoker.bind(protocol)).send({})


def test_a_picture_is_a_file_with_its_digest():
    named = 'attachment; filename="../../a chart.png"'
    response = send(PNG, {"Content-Type": "image/png", "Content-Disposition": named})
    file = response.files[()]
    assert isinstance(file, FileValue)
    assert dict(file) == {
        "name": "a chart.png",
        "media_type": "image/png",
        "size": len(PNG),
        "sha256": hashlib.sha256(PNG).hexdigest(),
    }
    assert file.whole() == PNG


@pytest.mark.parametrize("kind", ["application/octet-stream", "", "x/y"])
def test_bytes_that_are_no_text_are_a_file(kind):
    file = send(PNG, {"Content-Type": kind}, path="/charts/a.png").files[()]
    assert (file.info.name, file.whole()) == ("a.png", PNG)


def test_a_text_is_a_file_where_declared():
    headers = {"Content-Type": "text/csv; charset=windows-1252"}
    file = send(b"a,b\n", headers, output=DECLARED).files[()]
    assert file.info.name == "lookup.csv"
    assert file.info.media_type == "text/csv; charset=windows-1252"
    assert send(b"a,b\n", headers).value == "a,b\n"


def test_a_large_body_of_json_is_a_file():
    body = b'{"rows": [' + b"1," * 100_000 + b"1]}"
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = send(gzip.compress(body), packed, max_body_bytes=50_000)
    assert response.files[()].whole() == body
    assert response.files[()].info.media_type == "application/json"


@pytest.mark.parametrize("kind", ["image/png", "application/json"])
def test_a_bomb_of_gzip_names_the_setting(kind):
    bomb = gzip.compress(b"0" * 20_000_000)
    headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
    with pytest.raises(ToolError) as caught:
        send(bomb, headers, max_body_bytes=1000, max_file_bytes=3_000_000)
    assert caught.value.body == (
        "the body is over 3 MB, the most that a file may have: ask for less, or raise limits.max_file_mb"
    )


def test_a_credential_is_masked_also_between_two_pieces():
    secret = "sk-test-0123456789-abcdefghij"
    body = b"x" * (65536 - 10) + secret.encode() + b"\xff" * 70_000 + secret.encode()
    credential = Credential(value=secret, hosts=("127.0.0.1",), header="X-Key")
    file = send(body, {"Content-Type": "image/png"}, credentials={"key": credential}).files[()]
    assert secret.encode() not in file.whole()
    assert file.whole().count(b"***") == 2


def test_a_file_of_another_service_is_no_file():
    described = {"name": "a", "media_type": "text/csv", "size": 3, "sha256": "ab" * 32}
    assert send(b'{"name": "a", "media_type": "text/csv", "size": 3}', {}).files == {}
    response = send(str(described).replace("'", '"').encode(), {"Content-Type": "application/json"})
    assert (response.value, response.files) == (described, {})
