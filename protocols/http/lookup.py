"""Names of hosts, looked up once for a connection and in bounded time. Only addresses that may be reached are given."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address

from protocols.urls import claims_to_be_near, is_near, may_reach


class UnreachableAddress(ValueError):
    """A name leads to an address at which its service cannot be.

    `forbidden` is True if nothing on this machine or its networks may be called, whatever the user names.
    """

    def __init__(self, problem: str, *, forbidden: bool) -> None:
        super().__init__(problem)
        self.forbidden = forbidden


class NameResolver:
    """The names that one client looks up, and where each of them was found first. Safe for threads.

    A connection goes to an address that `addresses` gave, never to the name, so that nothing can change in between.
    A name that led to the internet at first may not lead to this machine or its networks later.
    """

    def __init__(self, homes: Collection[str] | None, *, root: str = "") -> None:
        """`homes`: hosts that may be on this machine or its networks, since the user said that a service is there.
        None: no host may be.

        `root`: the host that the user named. Hosts that its answers name (sign-in pages, redirects) may be on this
        machine or its networks only if it is there itself.
        """
        self._homes = homes
        self._root = root
        self._first: dict[str, bool] = {}
        """By name: True if it led to this machine or its networks when it was first looked up."""

    def addresses(self, host: str, port: int, *, seconds: float) -> list[str]:
        """Look `host` up once and return the IP addresses at which it may be reached, in the resolver's order.

        Raises:
            NotThere: it only leads to this machine or its networks, where its service cannot be.
            OSError: it has no address (`TimeoutError`: none was found in time).
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
        """Refuse a host that says itself that it is near, where a proxy looks names up, which may be there.

        Raises:
            NotThere: the host that the user named does not say so.
        """
        home = self._homes is not None and (host in self._homes or claims_to_be_near(self._root))
        if claims_to_be_near(host) and not home:
            raise UnreachableAddress(
                f"{host} is on this machine or its own network", forbidden=self._homes is None
            )


def look_up(host: str, port: int, *, seconds: float) -> list[str]:
    """Return the IP addresses of a host, each once, in the resolver's order; an IP address is its own.

    The resolver has no time-out of its own, so it is asked on a thread that may be left behind.

    Raises:
        OSError: the host has no address (`TimeoutError`: none was found in time).
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
    except ValueError as error:  # a label of more than 63 characters, for instance
        answers.put(OSError(f"no name of a host: {error}"))
    else:
        answers.put(list(dict.fromkeys(str(address[0]) for *_, address in found)))
