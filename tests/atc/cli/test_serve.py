"""`atc serve`."""

import re

import pytest

from atc.cli.main import cli

pytestmark = pytest.mark.usefixtures("shared_sandbox")


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode", "codex"])
def test_what_to_paste_into_an_agent_is_printed(client, capsys):
    options = ["--tools", "openapi.json", "--allow-writes", "send"]
    cli.main(["serve", *options, "--print-config", client], standalone_mode=False)
    printed = capsys.readouterr().out
    assert re.search(r"serve\W+--tools\W+openapi\.json\W+--allow-writes\W+send", printed)
