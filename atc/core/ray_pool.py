"""A cluster of the framework Ray as a pool of workers.

Each item of work is a Ray task. Ray runs the task in a process with a free CPU, and starts it again
elsewhere if the process or its node dies. A process opens its worker for its first item and keeps
it. Results are stored only by the process that started the work.
"""

from __future__ import annotations

import logging
import os
import platform
import signal
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import ray
from ray import cloudpickle
from ray._private import ray_constants
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from atc.core.parallel import OpenWorker
from atc.core.version import __version__
from protocols.errors import AtcError
from sandbox.base import SandboxUnavailable

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")

RETRIES = 3
"""How often an item is started again because its process or node has died."""
_GOES_ON = "what was done is kept, and the same command goes on"
_CONNECT_SECONDS = 5.0
_CHECK_SECONDS = 5.0
"""After this many seconds without a result, check if the head node is reachable.

Ray itself would wait a minute, and then end the process.
"""
_ALONE = "local"
"""The address with which Ray starts a cluster on this machine that ends with this process."""
_DESCRIBE_SECONDS = 30.0


class ClusterUnavailable(AtcError):
    """Raised if the Ray cluster cannot be used.

    It does not exist, is gone, or has other versions of atc, Python or Ray. The message says what
    to do.
    """


def versions() -> str:
    """Return the versions of atc, Python and Ray in this process, as text.

    They must be the same in all processes of a cluster.
    """
    return f"atc {__version__}, Python {platform.python_version()}, ray {ray.__version__}"


@contextmanager
def connect_cluster(workers: str) -> Iterator[None]:
    """Connect to the cluster that the setting `workers` names, for the `with` block.

    `ray:HOST:PORT` is a cluster that this machine is a node of. `ray` is the cluster that
    RAY_ADDRESS names, or else a cluster on this machine only, which ends with the block.

    Raises:
        ClusterUnavailable: Nothing answers at this address, the cluster cannot be used from here,
            or its versions differ from those of this process.
    """
    address = workers.partition(":")[2] or os.environ.get("RAY_ADDRESS") or _ALONE
    if address != _ALONE:
        _require_reachable(address)
    before = signal.getsignal(signal.SIGTERM)
    # Keep Ray from writing to stdout and stderr. It prints messages about dead workers, and has no
    # setting against that. Closing its subscriber would leave a thread spinning.
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    ray._private.worker.print_to_stdstream = lambda *_, **__: None  # noqa: SLF001
    try:
        with _away_from_folder():
            ray.init(address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # Ray raises plain exceptions, as if a node does not start in time
        raise ClusterUnavailable(
            f"the Ray cluster {address} cannot be used: {_summarize_error(error)}"
        ) from error
    try:
        signal.signal(signal.SIGTERM, before)  # Ray has replaced it
        yield
    finally:
        ray.shutdown()


@contextmanager
def _away_from_folder() -> Iterator[None]:
    """Run the `with` block as if the command had been started in the folder where atc is installed.

    Ray puts the current folder into the import path of its workers, so a module of an untrusted
    folder could be imported. Under `uv run`, Ray would also send that folder to the workers.
    """
    here = Path.cwd()
    before = ray_constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV
    ray_constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV = False
    os.chdir(Path(__file__).resolve().parents[2])
    try:
        yield
    finally:
        os.chdir(here)
        ray_constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV = before


def _require_reachable(address: str, more: str = "") -> None:
    """Check that something listens at the address HOST:PORT of a cluster.

    Ray itself would try to connect for a long time, and then exit.

    Raises:
        ClusterUnavailable: Nothing listens there. The text `more` is appended to the message.
    """
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise ClusterUnavailable(
            f"{address!r} is no address of a Ray cluster: give HOST:PORT, as 'ray start --head'"
            " prints it, on a machine that is a node of it."
        )
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except OSError as error:
        raise ClusterUnavailable(
            f"no Ray cluster answers at {address} ({error.strerror or error}): start one with"
            f" 'ray start --head', or give the address of another{more}."
        ) from error


@dataclass(frozen=True, slots=True)
class RayPool:
    """A pool of workers on the connected cluster, one process for each CPU.

    It is called as described at `atc.core.parallel.Pool`.
    """

    most: int | None = None
    """Number of items in work at once; None: twice the number of CPUs."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables for the workers, such as API keys."""

    def __call__(
        self, open_worker: OpenWorker[_Item, _Result], items: Iterable[_Item], /
    ) -> Generator[_Result, None, None]:
        """Process the items on the cluster, and yield their results as they finish.

        An item whose process died several times is reported after all others are done.

        Raises:
            ClusterUnavailable: The cluster is gone, a node has other versions, or an item was lost.
            SandboxUnavailable: A node has no sandbox that the operating system isolates.
        """
        order = _Order(
            cloudpickle.dumps(open_worker), versions(), str(Path.cwd()), self.environment
        )
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        waiting = iter(items)
        lost = list[_WorkerLost]()
        # By default the cluster has two items for each CPU, so that no CPU waits for the next one.
        most = self.most or max(1, 2 * int(ray.cluster_resources().get("CPU", 1)))
        busy = [task.remote(order, item) for item in islice(waiting, most)]
        while busy:
            ready, busy = ray.wait(busy, timeout=_CHECK_SECONDS)
            if not ready:
                _require_reachable(ray.get_runtime_context().gcs_address, f"; {_GOES_ON}")
            # Start the next items before the results are used.
            busy += [task.remote(order, item) for item in islice(waiting, len(ready))]
            for reference in ready:
                try:
                    yield _result(reference)
                except _WorkerLost as error:
                    lost.append(error)
        if lost:
            raise lost[-1]


def _remote(what: Callable[..., Any], node: str, **options: Any) -> Any:
    """Return a function as a Ray task that runs on the node with the id `node`.

    The task occupies no CPU.
    """
    there = NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=there, **options)(what)


class _Order(NamedTuple):
    """The arguments that all tasks of one command have in common.

    They are passed with each task instead of being put into Ray's object store, which may write
    them to disk.
    """

    opener: bytes
    """Pickled function that opens a worker. Tasks with equal openers use one worker per process."""
    versions: str
    folder: str
    """Folder in which the command was started."""
    environment: Mapping[str, str]


class _WorkerLost(ClusterUnavailable):
    """Raised if the process that worked on an item died, also after all retries."""


def _result(reference: Any) -> Any:
    """Return the result of a task, or raise its error as if it had happened in this process.

    Raises:
        _WorkerLost: The process of the task died.
        ClusterUnavailable: The node lacks a module that the task needs.
    """
    try:
        return ray.get(reference)
    except RayTaskError as error:
        if isinstance(error.cause, ImportError):
            raise ClusterUnavailable(
                f"a node cannot run this work ({error.cause}): install what this machine has"
                f" there, {versions()}."
            ) from error
        raise error.cause from error
    except RayError as error:
        raise _WorkerLost(
            f"a process of the cluster is lost ({_summarize_error(error)}); {_GOES_ON}."
        ) from error


def _summarize_error(error: Exception) -> str:
    """Return the beginning of an error's message, on one line."""
    return " ".join(str(error).split())[:300]


_open: dict[bytes, tuple[ExitStack, Callable[[Any], Any]]] = {}
"""The open worker of this process, keyed by the pickled function that opened it."""


def _work(order: _Order, item: Any) -> Any:
    """Process one item in a worker process of the cluster, and return its result.

    Raises:
        ClusterUnavailable: The versions of this process are not those of the command.
        SandboxUnavailable: This node has no sandbox that the operating system isolates.
    """
    if (here := versions()) != order.versions:
        there = f"the node {socket.gethostname()} has {here}, and this command {order.versions}"
        raise ClusterUnavailable(f"{there}: install the same on all nodes.")
    if order.opener not in _open:
        while _open:
            _open.popitem()[1][0].close()
        os.environ.update(order.environment)
        with suppress(OSError):
            os.chdir(order.folder)
        with ExitStack() as stack:
            try:
                worker = stack.enter_context(cloudpickle.loads(order.opener)())
            except SandboxUnavailable as error:
                advice = "it is left out with 'ray start --num-cpus 0' there"
                raise SandboxUnavailable(
                    f"the node {socket.gethostname()}: {error} Or {advice}."
                ) from error
            _open[order.opener] = stack.pop_all(), worker
    return _open[order.opener][1](item)


def nodes(check: Callable[[], object]) -> list[tuple[str, str, str]]:
    """Return a description of each living node of the cluster: host name, CPUs, and problem.

    The problem is "" if the node works. `check` is called on each node, and raises
    SandboxUnavailable if the node has no usable sandbox.
    """
    opener = cloudpickle.dumps(lambda: nullcontext(lambda _: check()))
    order = _Order(opener, versions(), str(Path.cwd()), {})
    living = [node for node in ray.nodes() if node["Alive"]]
    asked = [_remote(_work, node["NodeID"], max_retries=0).remote(order, None) for node in living]
    found = []
    for node, reference in zip(living, asked, strict=True):
        problem = ""
        try:
            ray.get(reference, timeout=_DESCRIBE_SECONDS)
        except RayError as error:
            problem = _summarize_error(getattr(error, "cause", None) or error)
        cpus = int(node["Resources"].get("CPU", 0))
        found.append((str(node["NodeManagerHostname"]), f"{cpus} CPUs; {versions()}", problem))
    return found
