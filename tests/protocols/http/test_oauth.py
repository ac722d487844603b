"""Which configured credentials a call sends, also where one API has several accounts."""

import pytest

from protocols.errors import CredentialMissing
from protocols.http.oauth import Keyring, LoginRequirements
from protocols.settings import Credential, InvokeSettings
from protocols.urls import split_url

ORIGIN = split_url("https://api.example.org")[0]


def keyring(*names, problems=(), **more):
    hosts = ("api.example.org",)
    credentials = {name: Credential(value=f"key-of-{name}", hosts=hosts, **more) for name in names}
    return Keyring(InvokeSettings(credentials=credentials, problems=dict.fromkeys(problems, "no.")))


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize(
    ("names", "account", "expected"),
    [
        (("api/work", "api/home"), "work", "api/work"),
        (("api/work", "api/home"), "home", "api/home"),
        (("api/work", "api"), "other", "api"),
        (("api/work", "api"), "work", "api/work"),
        (("api/work",), "other", "api/work"),
        (("api/work",), "", "api/work"),
        (("api/work", "api/home"), "other", None),
        (("api/work", "api/home"), "", None),
    ],
)
def test_the_source_chooses_one_account(names, account, expected, placed):
    known = keyring(*names, header="X-Key" if placed else "")
    login = LoginRequirements(origin=ORIGIN, offered=() if placed else ("api",), account=account)
    if expected is None:
        with pytest.raises(CredentialMissing, match="one of your accounts 'api/work', 'api/home'"):
            known.secrets(login, tool="get_me")
        return
    sent = known.secrets(login, tool="get_me")
    assert [one.credential for one in sent] == [expected]


def test_the_first_usable_alternative_is_sent():
    login = LoginRequirements(origin=ORIGIN, offered=("none", ("a", "b"), "c"))
    assert [one.credential for one in keyring("a", "b", "c").secrets(login, tool="t")] == [
        "a",
        "b",
    ]
    unset = keyring("a", "b", "c", problems=("b",))
    assert [one.credential for one in unset.secrets(login, tool="t")] == ["c"]
    with pytest.raises(CredentialMissing, match=r"^t: no\.$"):
        keyring("a", "b", problems=("b",)).secrets(login, tool="t")
    optional = LoginRequirements(origin=ORIGIN, offered=((), "a"))
    assert keyring("a", problems=("a",)).secrets(optional, tool="t") == []
