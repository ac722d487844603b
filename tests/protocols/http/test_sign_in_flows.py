"""Which flow the settings and the document choose, and which addresses it uses."""

import pytest

from protocols.errors import CredentialMissing
from protocols.http.sign_in_flows import choose_flow
from protocols.settings import Credential

URL = "https://api.example.org"
FLOWS = {
    "password": {"tokenUrl": f"{URL}/password", "scopes": {"read": "", "write": ""}},
    "clientCredentials": {"tokenUrl": f"{URL}/client"},
    "authorizationCode": {"tokenUrl": f"{URL}/code", "authorizationUrl": f"{URL}/page"},
    "deviceAuthorization": {
        "tokenUrl": f"{URL}/device",
        "deviceAuthorizationUrl": f"{URL}/codes",
        "refreshUrl": f"{URL}/refresh",
    },
}
PASSWORD = {"username": "a", "password": "b"}
CLIENT = {"client_id": "a", "client_secret": "b"}


@pytest.mark.parametrize(
    ("given", "declared", "expected"),
    [
        (PASSWORD, FLOWS, ("password", "/password", "", "/password", "read write")),
        (PASSWORD, ["clientCredentials"], ("password", "/client", "", "/client", "")),
        (CLIENT, FLOWS, ("clientCredentials", "/client", "", "/client", "")),
        ({"client_id": "a"}, FLOWS, ("authorizationCode", "/code", "/page", "/code", "")),
        (
            {"client_id": "a", "scopes": ("x",)},
            ["deviceAuthorization"],
            ("deviceAuthorization", "/device", "/codes", "/refresh", "x"),
        ),
        (
            {"client_id": "a", "device_authorization_url": f"{URL}/own", "token_url": f"{URL}/t"},
            FLOWS,
            ("deviceAuthorization", "/t", "/own", "/t", ""),
        ),
        (PASSWORD, [], "the document names no address that gives tokens; set credentials.x.token"),
        ({"client_id": "a"}, ["password"], "names no address that gives tokens"),
        (PASSWORD | {"token_url": "http://api.example.org/t"}, [], "hosts"),
        (PASSWORD | {"token_url": "ftp://api.example.org/t"}, [], "cannot be got"),
    ],
)
def test_settings_and_document_choose_a_flow(given, declared, expected):
    credential = Credential(hosts=("api.example.org",), **given)
    scheme = {"type": "oauth2", "flows": {name: FLOWS[name] for name in declared}}
    if isinstance(expected, str):
        with pytest.raises(CredentialMissing, match=expected):
            choose_flow("x", credential, scheme)
        return
    flow = choose_flow("x", credential, scheme)
    found = (flow.kind, flow.token_url, flow.page, flow.refresh_url, flow.scope)
    assert tuple(one.replace(URL, "") for one in found) == expected
