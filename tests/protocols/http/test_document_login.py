"""Documents behind a login: which credential their host gets, and that no other host gets it."""

import base64

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import SourceUnavailable
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving

SECRET = "t0ken-of-the-user"


def document(*names, **schemes):
    paths = {f"/{name}": {"get": {"operationId": f"get_{name}"}} for name in names}
    parts = {"components": {"securitySchemes": schemes}}
    return {"openapi": "3.1.0", "info": {"title": "t"}, "paths": paths, **parts}


FULL = Reply(body=document("items", "users"))
PAGE = Reply(body=b" <html>Please sign in</html>", headers={"Content-Type": "text/html"})
API_KEY = {"type": "apiKey", "in": "query", "name": "access_token"}
BASIC = f"Basic {base64.b64encode(b'ada:' + SECRET.encode()).decode()}"


def behind(refusal, fits):
    """A service that gives the whole document to a request that `fits`, else `refusal`."""
    return lambda request: FULL if fits(request) else refusal


def by_header(name, value):
    return lambda request: request.headers.get(name) == value


def challenge(kind):
    return Reply(401, {"detail": "no"}, {"WWW-Authenticate": f'{kind} realm="x"'})


def load(server, source="", **given):
    credential = Credential(**{"value": SECRET, "hosts": (server.netloc,), **given})
    invoker = Invoker(InvokeSettings(credentials={"login": credential}))
    return [*load_tools(f"{source}{server.url}/openapi.json", invoker=invoker)]


@pytest.mark.parametrize(
    ("refusal", "fits", "given"),
    [
        (PAGE, by_header("authorization", f"token {SECRET}"), {"prefix": "token "}),
        (Reply(403), by_header("x-key", SECRET), {"header": "X-Key"}),
        (Reply(404), by_header("cookie", f"sid={SECRET}"), {"place": "cookie", "name": "sid"}),
        (challenge("Bearer"), by_header("authorization", f"Bearer {SECRET}"), {}),
        (challenge("Basic"), by_header("authorization", BASIC), {"value": f"ada:{SECRET}"}),
        (
            challenge("Basic"),
            by_header("authorization", BASIC),
            {"value": "", "username": "ada", "password": SECRET},
        ),
        (
            Reply(body=document("items", login=API_KEY)),
            lambda request: ("access_token", SECRET) in request.query,
            {},
        ),
        (Reply(body=document("items")), by_header("x-key", SECRET), {"header": "X-Key"}),
        (challenge("Bearer"), lambda request: "authorization" not in request.headers, {}),
    ],
)
def test_a_login_opens_the_whole_document(refusal, fits, given):
    with serving(behind(refusal, fits)) as server:
        assert load(server, **given) == ["get_items", "get_users"]


def test_a_sign_in_opens_the_document():
    def answer(request):
        if request.path == "/token":
            return Reply(body={"access_token": "fresh"})
        return FULL if by_header("authorization", "Bearer fresh")(request) else PAGE

    with serving(answer) as server:
        login = {"value": "", "username": "ada", "password": SECRET}
        assert load(server, token_url=f"{server.url}/token", **login) == ["get_items", "get_users"]


@pytest.mark.parametrize("given", [{}, {"header": "X-Key"}, {"query": "key"}])
def test_no_other_host_gets_the_login(given):
    with serving(lambda _: PAGE) as thief:
        moved = Reply(302, headers={"Location": f"{thief.url}/openapi.json?key={SECRET}"})
        with serving(lambda _: moved) as server:
            with pytest.raises(SourceUnavailable, match=r"origin.* It may be a login") as caught:
                load(server, **given)
            assert SECRET not in str(caught.value)
        with pytest.raises(SourceUnavailable, match="may be a login page: if it needs a login"):
            load(thief, **given, hosts=("api.example.org",))
        assert SECRET not in "".join(request.everything for request in thief.seen)


def test_a_sign_in_without_an_address_is_told():
    with serving(lambda _: PAGE) as server, pytest.raises(SourceUnavailable) as caught:
        load(server, value="", username="ada", password=SECRET)
    assert "needs a sign-in, whose address only the document has" in str(caught.value)
    assert SECRET not in "".join(request.everything for request in server.seen)


@pytest.mark.parametrize("refusal", [PAGE, challenge("Bearer"), Reply(403)])
def test_a_refused_login_is_named(refusal):
    with serving(lambda _: refusal) as server, pytest.raises(SourceUnavailable) as caught:
        load(server, header="X-Key")
    assert "the credential 'login' did not open it" in str(caught.value)
