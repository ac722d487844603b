"""Work on a Ray cluster of two nodes, both on this machine: every piece once, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

# Each process of Ray imports jsonschema, which takes two seconds where it finds this: jupyter-server brings it.
sys.modules["rfc3987_syntax"] = None
ray = pytest.importorskip("ray", reason="needs the extra 'scale'")

from ray.cluster_utils import Cluster  # noqa: E402 - needs ray

import atc  # noqa: E402
import probing.probe  # noqa: E402
from atc.core import ray_pool as scale  # noqa: E402
from atc.core.config import Config  # noqa: E402
from atc.core.parallel import Threads  # noqa: E402
from atc.core.secret_values import portable  # noqa: E402
from atc.core.setting_tables import CredentialEntry  # noqa: E402
from atc.pipeline.retrieve.document import ToolDocument  # noqa: E402
from atc.pipeline.retrieve.expand import expand_all  # noqa: E402
from atc.pipeline.retrieve.index import ToolIndex  # noqa: E402
from benchmarks.local import descendants  # noqa: E402
from protocols.model import Completion  # noqa: E402
from sandbox.base import SandboxUnavailable  # noqa: E402
from tests.labs.loopback import Reply, serving  # noqa: E402
from tests.labs.paths import ROOT  # noqa: E402
from tests.labs.patience import PATIENCE  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray's own
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


KEY = "k3y-of-an-endpoint"
WORKS = """
import sys, time
from contextlib import nullcontext
from functools import partial
from atc.core import ray_pool
ray_pool._LOOK_SECONDS = 0.5
try:
    with ray_pool.connect_cluster(f"ray:{sys.argv[1]}"):
        for number in ray_pool.RayPool()(partial(nullcontext, lambda number: time.sleep(number)), [0, 100]):
            print("begun", flush=True)
except ray_pool.ClusterUnavailable as error:
    print(error, flush=True)
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("not-installed")
    (folder / "rfc3987_syntax.py").write_text("raise ImportError")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{folder}")
        patch.setenv("RAY_worker_niceness", "0")  # else workers yield to all other tests
        node = {"num_cpus": 1, "include_log_monitor": False}
        made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        made.add_node(**node)
        yield made
        made.shutdown()


@pytest.fixture
def pool(nodes: Cluster) -> Iterator[scale.RayPool]:
    with scale.connect_cluster(f"ray:{nodes.address}"):
        yield scale.RayPool(environment={"ATC_TEST_KEY": KEY})


def test_every_item_is_done_once_on_both_nodes(
    pool: scale.RayPool, nodes: Cluster, tmp_path: Path
) -> None:
    def work(number):
        node = ray.get_runtime_context().get_node_id()
        (tmp_path / node).touch()
        deadline = time.monotonic() + PATIENCE
        while (
            len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline
        ):  # until the other is at work, too
            time.sleep(0.05)
        return number, os.environ["ATC_TEST_KEY"], node

    found = list(pool(partial(nullcontext, work), range(40)))
    assert sorted(number for number, _, _ in found) == list(range(40))
    assert {key for _, key, _ in found} == {KEY}
    logs = [
        path for path in Path(nodes.head_node.get_session_dir_path()).rglob("*") if path.is_file()
    ]
    assert logs
    assert [path for path in logs if KEY.encode() in path.read_bytes()] == []
    assert len({node for *_, node in found}) == 2


def test_dead_work_restarts_and_hopeless_work_is_reported(
    nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "RETRIES", 1)

    def work(number):
        died = tmp_path / str(number)
        if number == 3 or (number == 7 and not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    done = []
    with (
        scale.connect_cluster(f"ray:{nodes.address}"),
        pytest.raises(scale.ClusterUnavailable, match=r"is lost .* the same command goes on"),
    ):
        done.extend(scale.RayPool()(partial(nullcontext, work), range(15)))
    assert Counter(done) == Counter(set(range(15)) - {3})


def test_a_node_without_a_boundary_takes_nothing(pool: scale.RayPool) -> None:
    @contextmanager
    def opened():
        raise SandboxUnavailable("no boundary here.")
        yield

    told = f"the node {socket.gethostname()}: no boundary here. Or it is left out with 'ray start --num-cpus 0' there."
    with pytest.raises(SandboxUnavailable, match=told):
        list(pool(opened, range(20)))


def test_other_versions_are_refused(pool: scale.RayPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "versions", lambda: "atc 9.9, Python 3, ray 2")
    with pytest.raises(
        scale.ClusterUnavailable, match=r"has atc .*, and this command atc 9\.9.*install the same"
    ):
        list(pool(partial(nullcontext, abs), [1]))


def test_secrets_go_along_as_they_are_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t0ken")
    config = Config(
        credentials={"api": CredentialEntry(value="env:TOKEN", hosts=("api.example.org",))}
    )
    assert portable(config).credentials["api"].value == "t0ken"
    assert "t0ken" not in repr(portable(config))


def test_cluster_and_local_benchmarks_have_equal_rows(
    atc_, nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))

    def rows(name: str, *more: str) -> list[dict]:
        out = tmp_path / name
        run = (
            "bench",
            "run",
            "toolflow",
            "--strategy",
            "gold",
            "--services",
            "places",
            "--limit",
            "6",
        )
        code, shown, told = atc_(*run, "--out", out, "--json", *more)
        assert (code, json.loads(shown)["solved"]) == (0, 6), told
        made = [json.loads(line)["row"] for line in out.read_text().splitlines()[1:]]
        return sorted(
            ({key: row[key] for key in ("id", "correct", "calls", "status")} for row in made),
            key=str,
        )

    assert rows("here") == rows("there", "--workers", f"ray:{nodes.address}")


def test_cluster_and_local_indexes_are_equal(pool: scale.RayPool) -> None:
    class Letters:
        name, dimensions = "letters", 26

        def embed(self, texts):
            counts = [
                [text.count(chr(97 + letter)) + 1.0 for letter in range(26)] for text in texts
            ]
            return np.array(counts, np.float32) / np.linalg.norm(
                counts, axis=1, keepdims=True
            ).astype(np.float32)

    class Writer:
        name, prompt_tokens = "writer", 1000

        def __call__(self, messages, *, seed, **_):
            return Completion(
                text=json.dumps({"query": f"please do thing number {seed} for me"}), model="writer"
            )

    tools = [
        ToolDocument(name=f"tool{n}", description=f"does {'abcdefgh'[n % 8] * (n % 5)} {n}")
        for n in range(1200)
    ]
    elsewhere = partial(pool, partial(nullcontext, lambda texts: (texts, Letters().embed(texts))))
    here, there = (
        ToolIndex.build(tools, embedder=Letters(), embed_all=how) for how in (None, elsewhere)
    )
    assert np.array_equal(here.dense.vectors, there.dense.vectors)
    used = [
        expand_all(tools[:8], index.store, Writer, queries=2, pool=way)
        for index, way in ((here, Threads(2)), (there, pool))
    ]
    assert used[0] == used[1]
    assert [here.store.texts(tool) for tool in tools[:9]] == [
        there.store.texts(tool) for tool in tools[:9]
    ]
    assert there.store.expanded_count == 8


def kill_workers() -> None:
    """Those of this process's cluster alone: another test's may run beside it."""
    for pid in descendants(()):
        with suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_work"):
                os.kill(pid, signal.SIGKILL)


def test_sources_of_one_host_share_a_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probing.probe, "host_label", str)
    called = ("a", "b", "c", "a b", "")
    sources = [
        probing.probe.SourceProbing(source=hosts, folder=Path(), protocols=hosts.split())
        for hosts in called
    ]
    groups = [{one.source for one in group} for group in probing.probe.by_host(sources)]
    assert groups == [{"c"}, {"a", "b", "a b"}, {""}]


@pytest.mark.usefixtures("own_folders")
def test_interrupted_probing_keeps_the_hosts_rate(atc_, nodes: Cluster) -> None:
    arrived: dict[str, list[float]] = {"one": [], "two": []}

    def answer(seen, name):
        arrived[name].append(time.monotonic())
        if name == "one" and len(arrived["one"]) == 3:
            kill_workers()
        user = seen.path.rpartition("/")[2]
        users = [{"id": f"u{n}", "age": 30 + n} for n in range(4)]
        return Reply(body=users if user == "users" else {"id": user, "age": 31})

    with serving(partial(answer, name="one")) as one, serving(partial(answer, name="two")) as two:
        for folder, server, path in (
            ("a", one, "users"),
            ("b", two, "users"),
            ("c", one, "users/{user_id}"),
        ):
            Path(folder).mkdir()
            tools = {
                f"{folder}_list": f"GET {server.url}/users",
                f"{folder}_get": f"GET {server.url}/{path}",
            }
            Path(folder, "tools.json").write_text(json.dumps(tools))
        probe = (
            "probe",
            "a",
            "b",
            "c",
            "-o",
            "out",
            "--rate",
            "3",
            "--per-tool",
            "4",
            "--model",
            "none",
        )
        atc_(*probe, "--workers", f"ray:{nodes.address}")
        code, out, err = atc_(*probe, "--json", "--jobs", "3")  # what the kill cut off, and here
    found = {Path(one["folder"]).name: one for one in json.loads(out)}
    assert [one["error"] for one in found.values()] == [""] * 3, err
    assert (code, [found[name]["totals"]["answered"] for name in "abc"]) == (0, [2, 2, 2]), err
    assert len(arrived["one"]) == sum(found[name]["sent"] for name in "ac"), err
    assert found["b"]["sent"] - len(arrived["two"]) in (0, 1), (
        err
    )  # the kill may have come before one was sent
    for times in arrived.values():  # four turns of a third of a second each
        assert (
            min((later - first for first, later in zip(times, times[4:], strict=False)), default=2)
            > 1
        )
    assert sorted(path.name for path in Path("out/b").glob("*.json"))


@pytest.mark.usefixtures("own_folders")
@pytest.mark.parametrize(
    ("workers", "code", "told"),
    [
        ("ray:127.0.0.1:1", 3, "no Ray cluster answers"),
        ("ray:ray://x:1", 3, "give HOST:PORT"),
        ("slurm", 2, "must be 'ray' or 'ray:ADDRESS'"),
    ],
)
def test_a_missing_cluster_is_one_sentence(atc_, workers: str, code: int, told: str) -> None:
    ended, _, shown = atc_(
        "bench", "run", "toolflow", "--strategy", "gold", "--limit", "1", "--workers", workers
    )
    assert (ended, told in shown) == (code, True), shown


@pytest.mark.usefixtures("own_folders")
def test_doctor_shows_the_nodes(atc_, nodes: Cluster) -> None:
    shown = json.loads(atc_("doctor", "--json", "--workers", f"ray:{nodes.address}")[1])
    found = [check for check in shown if check["name"].startswith("node ")]
    assert [check["state"] for check in found] == ["ok", "ok"], found
    assert all(scale.versions() in check["detail"] for check in found)


@pytest.mark.usefixtures("own_folders")
def test_without_ray_a_sentence_names_the_extra(atc_, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "atc.core.ray_pool")
    monkeypatch.delattr(atc.core, "ray_pool")
    code, _, err = atc_(
        "bench", "run", "toolflow", "--strategy", "gold", "--limit", "1", "--workers", "ray"
    )
    assert (code, err) == (
        3,
        "atc: this needs 'ray', which is not installed: pip install 'automatic-tool-chain[scale]'.\n",
    )


@pytest.mark.nightly
def test_a_head_that_dies_is_a_sentence(nodes: Cluster) -> None:
    """The last one here: the cluster is of no use afterwards."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKS, nodes.address], stdout=-1, text=True
    ) as process:
        assert process.stdout.readline() == "begun\n"
        for running in nodes.head_node.all_processes["gcs_server"]:
            running.process.kill()
        assert "no Ray cluster answers at" in (told := process.communicate(timeout=60)[0])
        assert "what was done is kept, and the same command goes on" in told
