"""Strict parsing of URLs, and which hosts are on this machine or its networks.

One strict parser for all code ensures that a secret goes to the host that was checked.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

from protocols.secrets.sources import mask_source

_URL = re.compile(
    r"(https?)://(\[[0-9a-f:.]+\]|[^\x00-\x20\x7f/?#\\@:%\[\]{}<>\"^`|]+)(?::([0-9]{1,5}))?"
    r"([/?#][^\x00-\x1f\x7f]*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.*", re.IGNORECASE)
# Link-local addresses, and others at which clouds publish secrets of a machine (metadata services).
_METADATA = "169.254.0.0/16 100.100.100.200 192.0.0.192 fe80::/10 fec0::/10 fd00:ec2::254"
_SECRETS = [*map(ip_network, _METADATA.split())]
_PORTS = {"http": 80, "https": 443}
# IPv6 addresses whose last 32 bits are an IPv4 address: NAT64 and deprecated notations.
_EMBEDDING = [*map(ip_network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96"))]
_LOCAL_NAT64 = ip_network("64:ff9b:1::/48")
_ONE_HOST = ("localhost", "127.0.0.1")
_NEAR_NAMES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".test")


class Origin(NamedTuple):
    """The origin of a URL: its scheme, lower-case ASCII host and port.

    Requests to one origin share connections and secrets.
    """

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """`host`, or `host:port` if the port is not the default of the scheme."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def names(self) -> tuple[Origin, ...]:
        """The origin itself, and the same origin under the other name of this machine.

        `localhost` and `127.0.0.1` are names of one host. No other names are, `[::1]` included.
        """
        if self.host not in _ONE_HOST:
            return (self,)
        return (self, *(self._replace(host=host) for host in _ONE_HOST if host != self.host))

    @property
    def url(self) -> str:
        """`https://host`, with the port if it is not the default, without a trailing slash."""
        return f"{self.scheme}://{self.netloc}"


def split_url(url: str) -> tuple[Origin, str]:
    """Return the origin of an http(s) URL, and the rest of it without the fragment.

    Raises:
        ValueError: the URL has another scheme, user info, or a backslash, braces or control
            characters in the host. URLs that parsers read in different ways are refused.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError(f"{mask_source(url)!r} is not an http(s) URL with a plain host")
    scheme, host, port, rest = match.groups()
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        ascii_host = ""
    if not (host.isascii() or re.fullmatch(r"[A-Za-z0-9.-]+", ascii_host)):  # `／` folds to `/`
        raise ValueError(f"{host!r} is not a host name")
    if _NUMBER.fullmatch(ascii_host):
        # Some parsers also accept `127.1`, `0x7f.0.0.1` and `2130706433` as addresses.
        try:
            IPv4Address(ascii_host)
        except ValueError:
            raise ValueError(f"{host!r} is not an IPv4 address of four decimal numbers") from None
    number = int(port) if port else _PORTS[scheme.lower()]
    if not 0 < number < 65536:
        raise ValueError(f"{number} is not a port")
    return Origin(scheme.lower(), ascii_host.lower(), number), (rest or "").partition("#")[0]


def is_url(text: str) -> bool:
    """Return True if `text` is an http(s) URL."""
    return text.lower().startswith(("http://", "https://"))


def is_same_owner(home: Origin, origin: Origin) -> bool:
    """Return True if the owner of the origin `home` probably owns `origin`, too.

    That is so if both are one origin (see `Origin.names`), or if both have port 80 or 443 and the
    host of `origin` is that of `home` or a subdomain of it. Other ports may belong to other
    services. Sibling hosts (`docs.example.com`, `api.example.com`) do not count, because a shared
    suffix may have many owners.
    """
    if origin in home.names:
        return True
    return (origin.host == home.host or origin.host.endswith(f".{home.host}")) and {
        origin.port,
        home.port,
    } <= {80, 443}


def is_near(address: str) -> bool:
    """Return True if an IP address belongs to this machine or its networks, not to the internet."""
    ip = _parse_address(address)
    return not ip.is_global or ip.is_multicast or ip in _LOCAL_NAT64 or _is_metadata_address(ip)


def claims_to_be_near(host: str) -> bool:
    """Return True if a host name or IP address is evidently on this machine or its networks.

    Examples: `localhost`, `printer.local`, `192.168.0.1`.
    """
    name = host.lower().rstrip(".")
    try:
        return is_near(name.strip("[]"))
    except ValueError:  # not an IP address
        return "." not in name or name.endswith(_NEAR_NAMES)


def is_loopback(host: str) -> bool:
    """Return True if a host name or address surely means this machine: `localhost`, `127.0.0.1`.

    An IPv6 address that only contains an IPv4 address, for NAT64 or 6to4, may lead elsewhere.
    """
    name = host.lower().strip("[]").rstrip(".")
    try:
        ip = ip_address(name)
    except ValueError:  # not an IP address
        return name == "localhost"
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return (mapped or ip).is_loopback


def canonical_host(host: str) -> str:
    """Return the same name for all ways to write a host, so that hosts can be compared.

    All names of this machine become `localhost`.
    """
    name = host.lower().strip("[]").rstrip(".")
    try:
        ip = _parse_address(name)
    except ValueError:
        return (
            "localhost"
            if name.endswith(".localhost") or name == socket.gethostname().lower()
            else name
        )
    return "localhost" if ip.is_loopback or ip.is_unspecified else str(ip)


def may_reach(host: str, address: str, homes: Collection[str] | None) -> bool:
    """Return True if a connection to `host` may use the IP address `address`.

    The owner of a public host name decides to which address it leads. So its address may not be on
    this machine or its networks, unless the user named the host as a service on them (`homes`). A
    local host name (`printer.local`) may have such an address, but not that of a cloud's metadata
    service. If `homes` is None, no address of this machine or its networks may be reached.
    """
    if homes is None:
        return not (is_near(address) or _is_own(address))
    if host in homes or not is_near(address):
        return True
    return claims_to_be_near(host) and not _is_metadata_address(_parse_address(address))


def _is_own(address: str) -> bool:
    """Return True if an IP address is one of this machine's. This is tested by binding a socket."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True


def _parse_address(address: str) -> IPv4Address | IPv6Address:
    """Return an IP address from text. An IPv4 address that is written as IPv6 becomes IPv4."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return ip
    is_embedded = any(ip in network for network in _EMBEDDING)
    if is_embedded and int(ip) > 1:  # `::` and `::1` are IPv6 addresses
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


def _is_metadata_address(ip: IPv4Address | IPv6Address) -> bool:
    """Return True if an address may be that of a cloud's metadata service."""
    return any(ip in network for network in _SECRETS)
