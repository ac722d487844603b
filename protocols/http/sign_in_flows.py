"""OAuth 2 flows: the ways in which a credential gets its token, and their addresses.

The document of a service names the addresses, and the user's settings may replace them. Whatever
the document says, a password, a refresh token and a device code go only to the `hosts` of the
credential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from protocols.errors import CredentialMissing
from protocols.http.credentials import host_entry
from protocols.schema import JsonObject, as_mapping
from protocols.settings import Credential
from protocols.urls import Origin, split_url

FlowKind = Literal["password", "clientCredentials", "authorizationCode", "deviceAuthorization"]
"""The kinds of flows, by their names in OpenAPI 3."""
_PAGES = {
    "authorizationCode": "authorizationUrl",
    "deviceAuthorization": "deviceAuthorizationUrl",
}
"""The field of an OpenAPI flow that has the address where the sign-in begins, keyed by flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInFlow:
    """A way to get a token, with addresses that the credential may be sent to."""

    kind: FlowKind
    token_url: str
    page: str = ""
    """The sign-in page, or the address that issues device codes; "" for the other kinds."""
    refresh_url: str
    scope: str = ""
    """The scopes to ask for, with spaces between them."""

    @property
    def scope_field(self) -> dict[str, str]:
        """The scopes as a form field; empty if no scope is requested."""
        return {"scope": self.scope} if self.scope else {}

    @property
    def needs_person(self) -> bool:
        """True if a person must take part in the sign-in."""
        return bool(self.page)


def choose_flow(name: str, credential: Credential, scheme: JsonObject) -> SignInFlow:
    """Return the flow by which a credential gets its token.

    `name` is the name of the credential, and `scheme` is its OpenAPI security scheme.

    Raises:
        CredentialMissing: there is no token endpoint, or the credential does not list the host of
            one of the addresses.
    """
    flows = as_mapping(scheme.get("flows"))
    kind = _kind(credential, flows)
    declared = as_mapping(flows.get(kind))
    page = _page(credential, kind, declared)
    token_url = credential.token_url or str(declared.get("tokenUrl", ""))
    if not token_url and kind == "password":  # services have one endpoint for all flows
        token_url = next((str(one["tokenUrl"]) for one in flows.values() if "tokenUrl" in one), "")
    if not token_url or (kind in _PAGES and not page):
        raise CredentialMissing(_explain_missing_address(name, kind))
    refresh_url = "" if credential.token_url else str(declared.get("refreshUrl", ""))
    refresh_url = refresh_url or token_url
    for url in filter(None, (token_url, refresh_url, page)):
        require_listed(name, credential, url)
    scopes = credential.scopes or tuple(as_mapping(declared.get("scopes")))
    return SignInFlow(
        kind=kind,
        token_url=token_url,
        page=page,
        refresh_url=refresh_url,
        scope=" ".join(scopes),
    )


def _kind(credential: Credential, flows: Mapping[str, Any]) -> FlowKind:
    """Return the kind of flow that suits the user's settings and the flows of the document."""
    if credential.password:
        return "password"
    if credential.device_authorization_url:
        return "deviceAuthorization"
    if credential.client_secret and "clientCredentials" in flows:
        return "clientCredentials"
    if credential.authorization_url or "authorizationCode" in flows:
        return "authorizationCode"
    if credential.client_secret:
        return "clientCredentials"
    return "deviceAuthorization" if "deviceAuthorization" in flows else "clientCredentials"


def _page(credential: Credential, kind: FlowKind, declared: Mapping[str, Any]) -> str:
    """Return the address at which the sign-in begins; "" if the kind of flow has none."""
    if kind not in _PAGES:
        return ""
    own = {
        "authorizationCode": credential.authorization_url,
        "deviceAuthorization": credential.device_authorization_url,
    }
    return own[kind] or str(declared.get(_PAGES[kind], ""))


def _explain_missing_address(name: str, kind: FlowKind) -> str:
    """Return a sentence that says which address of a flow is missing, and how to set it."""
    has = "a password" if kind == "password" else "a client_id"
    advice = f"set credentials.{name}.token_url"
    if kind == "password":
        advice += f""", or credentials.{name}.prefix = "Basic " if it is sent with each call"""
    else:
        advice += (
            ", and authorization_url for a sign-in in the browser or device_authorization_url"
            " for one by a code"
        )
    return (
        f"the credential {name!r} has {has}, but the document names no address that gives tokens;"
        f" {advice}."
    )


def require_listed(name: str, credential: Credential, url: str) -> Origin:
    """Return the origin of an address of the sign-in, after checking that `hosts` lists it.

    Raises:
        CredentialMissing: the host is not among `hosts`, or the address cannot be used.
    """
    try:
        origin, _ = split_url(url)
    except ValueError as error:
        raise CredentialMissing(f"the credential {name!r} cannot be got: {error}.") from None
    refuse_unlisted_host(name, credential, origin, "the sign-in")
    return origin


def refuse_unlisted_host(name: str, credential: Credential, origin: Origin, what: str) -> None:
    """Check that a credential may be sent to `origin`, according to the hosts that it lists.

    Raises:
        CredentialMissing: the host is not among them.
    """
    if not credential.may_go_to(origin):
        place = host_entry(origin)
        hosts = ", ".join(map(repr, credential.hosts)) or "no host"
        problem = (
            f"{what} would send the credential {name!r} to {place!r},"
            f" but it is configured for {hosts} only"
        )
        advice = (
            f"if it may go there, add {place!r} to credentials.{name}.hosts"
            " in your own settings file"
        )
        raise CredentialMissing(f"{problem}; {advice}.")
