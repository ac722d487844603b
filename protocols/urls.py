"""Where a URL leads: read in one strict way, so that no two readers disagree about who gets a secret."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

from protocols.secrets.sources import mask_source

_URL = re.compile(
    r"(https?)://(\[[0-9a-f:.]+\]|[^\x00-\x20\x7f/?#\\@:%\[\]{}<>\"^`|]+)(?::([0-9]{1,5}))?([/?#][^\x00-\x1f\x7f]*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.*", re.IGNORECASE)
# Link-local addresses, and others where clouds keep the secrets of a machine.
_METADATA = "169.254.0.0/16 100.100.100.200 192.0.0.192 fe80::/10 fec0::/10 fd00:ec2::254"
_SECRETS = [*map(ip_network, _METADATA.split())]
_PORTS = {"http": 80, "https": 443}
# Addresses of IPv6 whose last 32 bits are an address of IPv4: of translators, and of old ways to write one.
_EMBEDDING = [*map(ip_network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96"))]
_LOCAL_NAT64 = ip_network("64:ff9b:1::/48")
_NEAR_NAMES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".test")


class Origin(NamedTuple):
    """Scheme, lower-case ASCII host and port: what may share a connection and a secret."""

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """`host`, or `host:port` where the port is not the scheme's own."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

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
        raise ValueError(f"{mask_source(url)!r} is not an http(s) URL with a plain host")
    scheme, host, port, rest = match.groups()
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        ascii_host = ""
    if not (host.isascii() or re.fullmatch(r"[A-Za-z0-9.-]+", ascii_host)):  # `／` folds to `/`
        raise ValueError(f"{host!r} is not a host name")
    if _NUMBER.fullmatch(
        ascii_host
    ):  # `127.1`, `0x7f.0.0.1` and `2130706433` are addresses too, for some readers
        try:
            IPv4Address(ascii_host)
        except ValueError:
            raise ValueError(f"{host!r} is not an IPv4 address of four decimal numbers") from None
    number = int(port) if port else _PORTS[scheme.lower()]
    if not 0 < number < 65536:
        raise ValueError(f"{number} is not a port")
    return Origin(scheme.lower(), ascii_host.lower(), number), (rest or "").partition("#")[0]


def is_url(text: str) -> bool:
    """Whether `text` is an http(s) address."""
    return text.lower().startswith(("http://", "https://"))


def is_same_owner(home: Origin, origin: Origin) -> bool:
    """Whether `origin` belongs to whoever serves `home`: the same origin, or its host or one below it.

    A host besides the same origin counts on the usual ports alone (80 and 443): on others other services run. Hosts
    beside it (`docs.example.com`, `api.example.com`) do not count: under a shared suffix they are somebody else's.
    """
    if origin == home:
        return True
    return (origin.host == home.host or origin.host.endswith(f".{home.host}")) and {
        origin.port,
        home.port,
    } <= {80, 443}


def is_near(address: str) -> bool:
    """Whether an IP address belongs to this machine or to its own networks, and not to the internet."""
    ip = _parse_address(address)
    return not ip.is_global or ip.is_multicast or ip in _LOCAL_NAT64 or _is_metadata_address(ip)


def claims_to_be_near(host: str) -> bool:
    """Return True if a host's name or address itself says that it is on this machine or its own networks."""
    name = host.lower().rstrip(".")
    try:
        return is_near(name.strip("[]"))
    except ValueError:  # a name that the internet lacks says so, too
        return "." not in name or name.endswith(_NEAR_NAMES)


def canonical_host(host: str) -> str:
    """Return one name for all ways to write a host: `localhost` for each name and address of this very machine."""
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
    """Whether a connection to `host` may be made at the IP address `address`.

    Who owns a public name says where it leads, so it may not lead to this machine or its networks, unless the user
    gave it as the place of a service there (`homes`). Link-local addresses and metadata services are reached only so.
    With `homes` None nothing near is reached, whatever it is called, nor a public address of this machine.
    """
    if homes is None:
        return not (is_near(address) or _is_own(address))
    if host in homes or not is_near(address):
        return True
    return claims_to_be_near(host) and not _is_metadata_address(_parse_address(address))


def _is_own(address: str) -> bool:
    """Return True if this machine has the address: only then can it be bound to."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True


def _parse_address(address: str) -> IPv4Address | IPv6Address:
    """An IP address, that within it where it is one of IPv4 written as IPv6."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return ip
    if int(ip) > 1 and any(
        ip in network for network in _EMBEDDING
    ):  # `::` and `::1` are themselves
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


def _is_metadata_address(ip: IPv4Address | IPv6Address) -> bool:
    return any(ip in network for network in _SECRETS)
