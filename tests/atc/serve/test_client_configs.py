"""The text that a person pastes into an agent's configuration, so that it finds the gateway."""

from atc.serve.client_configs import CLIENTS, config_for


def test_each_client_gets_its_configuration():
    assert sorted(CLIENTS) == ["claude", "codex", "cursor", "vscode"]
    assert [
        "atc" in config_for(client, ["atc", "serve"], url="") for client in sorted(CLIENTS)
    ] == [True, True, True, True]
