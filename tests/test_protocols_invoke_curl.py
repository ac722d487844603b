"""The command that repeats a failed call, as a shell reads it."""

import json
import subprocess

import pytest

from protocols.errors import ToolError
from protocols.invoke import Credential, Invoker, InvokeSettings
from tests.loopback import Reply, http_tool, serving

SECRET = "s3cr3t/+ value"


def invoker(*hosts, value=SECRET, **credential):
    return Invoker(InvokeSettings(credentials={"k": Credential(value=value, hosts=hosts, **credential)}))


def pasted(command, **variables):
    """The arguments that a shell passes to the command."""
    script = 'curl() { for word; do printf "%s\\0" "$word"; done; }; ' + command
    done = subprocess.run(["sh", "-c", script], env=variables, capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


def failing(server, method="POST", *, credential=None, arguments=None, path="/a/{id}", properties=None, **binding):
    tool = http_tool(server.url + path, method, credentials=("k",), properties=properties, **binding)
    with invoker(server.netloc, **(credential or {})) as calls, pytest.raises(ToolError) as caught:
        calls.bind(tool)({"id": "it's $HOME `id`", **(arguments or {})})
    assert "s3cr3t" not in caught.value.curl
    return caught.value.curl


@pytest.fixture
def refusing():
    with serving(lambda _: Reply(404, {"detail": "no"})) as server:
        yield server


def test_curl_repeats_the_request(refusing):
    places = {"q": "query", "h": "header", "text": "body"}
    arguments = {"q": "a&b", "h": "don't", "text": "@file 'x' \x7f\n"}
    command = failing(refusing, arguments=arguments, locations=places, wire_names={"h": "X-H"})
    assert pasted(command, CREDENTIAL_K="the key") == [
        *("-X", "POST"),
        refusing.url + refusing.last.target,
        *("-H", "X-H: don't"),
        *("-H", "Content-Type: application/json"),
        *("-H", "Authorization: Bearer the key"),
        *("--data-raw", refusing.last.body.decode()),
    ]


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_curl_names_other_credentials(refusing, place):
    words = pasted(failing(refusing, "HEAD", credential={"place": place, "name": "key"}), CREDENTIAL_K="v")
    assert words[0] == "--head"
    assert words[1:] == ([words[1]] if place == "query" else [words[1], "-H", "Cookie: key=v"])
    assert words[1].endswith("?key=v") is (place == "query")


def test_curl_hides_sensitive_arguments_but_not_pages(refusing):
    properties = {"password": {}, "pin": {"writeOnly": True}, "user": {"properties": {"w": {"format": "password"}}}, "page_token": {}}  # fmt: skip # noqa: E501
    arguments = {"password": "s3cr3t", "pin": "s3cr3t", "user": {"w": "s3cr3t", "api_key": "s3cr3t"}, "page_token": "p"}
    command = failing(refusing, arguments=arguments, properties={**properties, "id": {}})
    assert json.loads(pasted(command)[-1]) == {
        "password": "***",
        "pin": "***",
        "user": {"w": "***", "api_key": "***"},
        "page_token": "p",
    }
