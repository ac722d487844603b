"""Host name resolution with a time limit, which returns only IP addresses that may be reached."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address

from protocols.urls import claims_to_be_near, is_near, may_reach


class UnreachableAddress(ValueError):
    """A host name resolves only to IP addresses that must not be reached.

    `forbidden` is True if the settings forbid all calls to this machine and its networks.
    """

    def __init__(self, problem: str, *, forbidden: bool) -> None:
        super().__init__(problem)
        self.forbidden = forbidden


class NameResolver:
    """Resolves the host names of one client to IP addresses that may be reached. Thread-safe.

    Connections go to an address that `addresses` returned, never to the name, so that the address
    cannot change between check and use. The resolver remembers for each host if it was on the
    internet at first: such a host may not move to this machine or its networks later.
    """

    def __init__(self, homes: Collection[str] | None, *, root: str = "") -> None:
        """Create a resolver.

        Args:
            homes: hosts that may be on this machine or its networks, because the user named them.
                None forbids all such hosts.
            root: the host that the user named. Hosts that its responses name (sign-in pages,
                redirects) may be on this machine or its networks only if `root` is there, too.
        """
        self._homes = homes
        self._root = root
        self._first: dict[str, bool] = {}
        """For each host: True if it was on this machine or its networks when first resolved."""

    def addresses(self, host: str, port: int, *, seconds: float) -> list[str]:
        """Resolve `host` and return the IP addresses that may be reached, in the resolver's order.

        Raises:
            UnreachableAddress: all addresses are on this machine or its networks, and `host` is not
                allowed to be there.
            OSError: it has no address (`TimeoutError`: no address was found in time).
        """
        found = look_up(host, port, seconds=seconds)
        near_at_first = self._first.setdefault(host, any(map(is_near, found)))
        home = self._homes is not None and host in self._homes
        stranger = not home and not self._first.get(self._root, claims_to_be_near(self._root))
        far_only = stranger or not near_at_first
        allowed = [
            address
            for address in found
            if may_reach(host, address, self._homes) and not (far_only and is_near(address))
        ]
        if not allowed:
            problem = f"{host} is at {found[0]}, on this machine or its own network"
            raise UnreachableAddress(problem, forbidden=self._homes is None)
        return allowed

    def refuse_near_host(self, host: str) -> None:
        """Refuse a host that is on this machine or its networks, judging by its name.

        An example of such a name is `localhost`. Used for requests through a proxy, which resolves
        the name itself.

        Raises:
            UnreachableAddress: the host has such a name, is not one of `homes`, and `root` has no
                such name; see the constructor.
        """
        home = self._homes is not None and (host in self._homes or claims_to_be_near(self._root))
        if claims_to_be_near(host) and not home:
            raise UnreachableAddress(
                f"{host} is on this machine or its own network", forbidden=self._homes is None
            )


def look_up(host: str, port: int, *, seconds: float) -> list[str]:
    """Return the IP addresses of a host, without duplicates, in the resolver's order.

    An IP address is returned as it is. The system resolver has no time-out, so it runs on a daemon
    thread that is abandoned after `seconds`.

    Raises:
        OSError: the host has no address (`TimeoutError`: no address was found in time).
    """
    bare = host.strip("[]")
    try:
        return [str(ip_address(bare))]
    except ValueError:
        answers: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()
    threading.Thread(
        target=_query_resolver, args=(bare, port, answers), daemon=True, name="look-up"
    ).start()
    answer: list[str] | OSError = TimeoutError(f"no address of {host} was found in time")
    with suppress(queue.Empty):
        answer = answers.get(timeout=max(seconds, 0))
    if isinstance(answer, OSError):
        raise answer
    if not answer:
        raise OSError("the name has no address")
    return answer


def _query_resolver(host: str, port: int, answers: queue.SimpleQueue[list[str] | OSError]) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        answers.put(error)
    except ValueError as error:  # for example a label of more than 63 characters
        answers.put(OSError(f"no name of a host: {error}"))
    else:
        answers.put(list(dict.fromkeys(str(address[0]) for *_, address in found)))
