"""Settings for calls of tools."""

from protocols.settings import Credential, McpServer
from protocols.urls import split_url


def test_a_credential_goes_only_to_its_hosts():
    credential = Credential(value="s3cret", hosts=("api.example.org",))
    assert credential.may_go_to(split_url("https://api.example.org/x")[0])
    assert not credential.may_go_to(split_url("https://other.example.org")[0])
    assert "s3cret" not in repr(credential)


def test_a_command_is_shown_as_typed():
    assert McpServer(command=("npx", "a b")).masked_text == "npx 'a b'"
