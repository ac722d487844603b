"""How many lookups a service of the bench answers on one core, and how long they take.

    python benchmarks/service_load.py [SERVICE] [--seconds S] [--clients N] [--rate R] [--seed N]

The service runs in a process of its own, pinned to one core; the load comes from this one, on the other cores. Lookups
are reads with arguments that exist, found by following the links of the service's own document. Closed loop: each of N
clients asks again as soon as it has its answer. Open loop: requests start at random moments (Poisson by seed), R a
second on average, and a wait for a free connection counts as part of the answer's time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import urlopen

PER_OPERATION = 40  # lookups of one operation among those that are asked


def serve_pinned(name: str, core: int) -> None:
    """The child: serve on one core until stdin ends."""
    os.sched_setaffinity(0, {core})
    from toolflow_bench.services.serve import serve
    from toolflow_bench.services.service import find_service

    with serve(find_service(name).app()) as service:
        print(service.url, flush=True)
        sys.stdin.read()


def lookups(url: str, seed: int) -> list[str]:
    """Targets (`/flights/abc?x=1`) of reads that succeed: lists first, then what their links lead to."""
    with urlopen(f"{url}/openapi.json") as answer:
        document = json.load(answer)
    reads = {
        methods["get"]["operationId"]: (path, methods["get"])
        for path, methods in document["paths"].items()
        if "get" in methods
    }
    rng, known, found = random.Random(seed), defaultdict(list), defaultdict(set)
    for _round in range(4):
        for operation, (path, described) in reads.items():
            for _try in range(PER_OPERATION // 4 if described["parameters"] else 1):
                target = draw(operation, path, described, known, rng)
                if target is None or target in found[operation]:
                    continue
                try:
                    with urlopen(url + target) as answer:
                        body = json.load(answer)
                except OSError:
                    continue
                found[operation].add(target)
                harvest(described["responses"]["200"].get("links", {}), body, known)
    print(f"{sum(map(len, found.values()))} lookups of {len(found)} of {len(reads)} reading operations")
    return [target for targets in found.values() for target in sorted(targets)]


def draw(operation: str, path: str, described: dict, known: dict, rng: random.Random) -> str | None:
    """The target of a call, or None where an argument is not known yet."""
    query = {}
    for parameter in described["parameters"]:
        schema, name = parameter["schema"], parameter["name"]
        offered = known[operation, name] or schema.get("enum") or schema.get("examples") or guesses(schema)
        if not parameter["required"] and (not known[operation, name] or rng.random() < 0.7):
            continue
        if not offered:
            return None
        value = rng.choice(offered)
        if parameter["in"] == "path":
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
        elif parameter["in"] == "query":
            query[name] = value
    return path + ("?" + urlencode(query) if query else "")


def guesses(schema: dict) -> list:
    if schema["type"] in ("integer", "number") and "minimum" in schema and "maximum" in schema:
        return [schema["minimum"], (schema["minimum"] + schema["maximum"]) // 2]
    return ["a"] if schema["type"] == "string" and not schema.keys() & {"pattern", "format"} else []


def harvest(links: dict, body: object, known: dict) -> None:
    """Keep what the links point at, for the arguments that take it; `/flights/0/id` means every flight's id."""
    for link in links.values():
        for parameter, expression in link["parameters"].items():
            values = [body]
            for step in expression.split("#/")[1].split("/"):
                if step == "0":
                    values = [item for value in values for item in value]
                else:
                    values = [value[step] for value in values if isinstance(value, dict) and value.get(step)]
            known[link["operationId"], parameter] += values[:20]


class Connection:
    """One kept-alive connection that asks one thing at a time."""

    @classmethod
    async def open(cls, url: str) -> Connection:
        made, place = cls(), urlsplit(url)
        made._reader, made._writer = await asyncio.open_connection(place.hostname, place.port)
        made._host = place.netloc
        return made

    async def get(self, target: str) -> int:
        """The status, once the whole answer is here."""
        self._writer.write(f"GET {target} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        await self._reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        return int(head[9:12])

    def close(self) -> None:
        self._writer.close()


async def closed_loop(url: str, targets: list[str], *, clients: int, seconds: float, seed: int) -> list[float]:
    """Seconds of every answer."""
    taken: list[float] = []
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        rng, connection = random.Random(f"{seed} {number}"), await Connection.open(url)
        while (begun := time.perf_counter()) < end:
            assert await connection.get(rng.choice(targets)) == 200
            taken.append(time.perf_counter() - begun)
        connection.close()

    await asyncio.gather(*map(client, range(clients)))
    return taken


async def open_loop(url: str, targets: list[str], *, rate: float, seconds: float, seed: int) -> list[float]:
    """Seconds of every answer, from the moment at which its request was due."""
    rng, taken, running = random.Random(seed), [], set()
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(32):
        idle.put_nowait(await Connection.open(url))

    async def ask(due: float, target: str) -> None:
        connection = await idle.get()
        assert await connection.get(target) == 200
        taken.append(time.perf_counter() - due)
        idle.put_nowait(connection)

    due = begun = time.perf_counter()
    while due < begun + seconds:
        due += rng.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        running.add(asyncio.create_task(ask(due, rng.choice(targets))))
    await asyncio.gather(*running)
    while not idle.empty():
        idle.get_nowait().close()
    return taken


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(name: str, taken: list[float], seconds: float) -> None:
    cuts = statistics.quantiles(taken, n=100)
    print(
        f"{name}: {len(taken) / seconds:,.0f} a second; median {cuts[49] * 1000:.2f} ms, p99 {cuts[98] * 1000:.2f} ms, "
        f"longest {max(taken) * 1000:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("service", nargs="?", default="flights")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pinned", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pinned is not None:
        return serve_pinned(given.service, given.pinned)
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, __file__, given.service, "--pinned", str(cores[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        if len(cores) > 1:
            os.sched_setaffinity(0, set(cores[1:]))
        url = child.stdout.readline().strip()
        targets = lookups(url, given.seed)
        print(f"{given.service} on core {cores[0]} of {len(cores)}; load average {os.getloadavg()[0]:.2f}")
        options = {"seconds": given.seconds, "seed": given.seed}
        before = cpu_seconds(child.pid)
        taken = asyncio.run(closed_loop(url, targets, clients=given.clients, **options))
        show(f"closed loop, {given.clients} clients", taken, given.seconds)
        # What other work on the core cannot blur: an idle core answers the inverse of this a second.
        print(f"CPU of the service: {(cpu_seconds(child.pid) - before) / len(taken) * 1000:.2f} ms a lookup")
        taken = asyncio.run(open_loop(url, targets, rate=given.rate, **options))
        show(f"open loop, {given.rate:g} a second", taken, given.seconds)
        print(f"load average {os.getloadavg()[0]:.2f}")
        child.stdin.close()
    return None


if __name__ == "__main__":
    main()
