"""Where a URL leads: read in one strict way, so that no two readers disagree about who gets a secret."""

from __future__ import annotations

import re
from typing import NamedTuple

_URL = re.compile(
    r"(https?)://(\[[0-9a-f:.]+\]|[^\x00-\x20\x7f/?#\\@:%\[\]{}<>\"^`|]+)(?::([0-9]{1,5}))?([/?#][^\x00-\x1f\x7f]*)?",
    re.IGNORECASE,
)


class Origin(NamedTuple):
    """Scheme, lower-case ASCII host and port: what may share a connection and a secret."""

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """`host`, or `host:port` where the port is not the scheme's own."""
        return self.host if self.port == _default_port(self.scheme) else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """`https://host`, with the port where it is not the scheme's own, and no slash at the end."""
        return f"{self.scheme}://{self.netloc}"


def split_url(url: str) -> tuple[Origin, str]:
    """The origin of an http(s) URL and what follows it, without the fragment.

    Raises:
        ValueError: another scheme, user info, a backslash, braces or control characters where a host should stand.
            All that URL parsers read differently from one another is refused.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError(f"{url!r} is not an http(s) URL with a plain host")
    scheme, host, port, rest = match.groups()
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise ValueError(f"{host!r} is not a host name") from None
    if not (host.isascii() or re.fullmatch(r"[A-Za-z0-9.-]+", ascii_host)):  # `／` folds to `/`
        raise ValueError(f"{host!r} is not a host name")
    number = int(port) if port else _default_port(scheme.lower())
    if not 0 < number < 65536:
        raise ValueError(f"{number} is not a port")
    return Origin(scheme.lower(), ascii_host.lower(), number), (rest or "").partition("#")[0]


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80
