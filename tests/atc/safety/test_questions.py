"""What a person reads before a decision."""

from atc.safety.questions import sign_in_text, start_text
from protocols.settings import McpServer


def test_commands_and_addresses_are_shown_whole():
    told = start_text(McpServer(command=("npx", "-y", "a b")))
    assert told.startswith("May this command be started?")
    assert "npx -y 'a b'" in told
    assert sign_in_text("https://login.example/a").startswith("Sign in at 'login.example'")
