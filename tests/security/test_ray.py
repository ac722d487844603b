"""Workers of a Ray cluster import nothing from the folder in which the command is given."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.labs.patience import PATIENCE
from tests.labs.user import ROOT

pytest.importorskip("ray", reason="needs the extra 'scale'")

WORK = """
import sys
sys.modules["rfc3987_syntax"] = None  # each process of Ray imports jsonschema, which is slow where it finds this
from contextlib import nullcontext
from functools import partial
from ray.cluster_utils import Cluster
from atc.core import ray_pool

def look(number):
    import colorsys
    return colorsys.__file__, sys.path

nodes = Cluster(
    initialize_head=True,
    head_node_args={"num_cpus": 1, "include_log_monitor": False, "include_dashboard": False},
)
try:
    with ray_pool.connect_cluster(f"ray:{nodes.address}"):
        for file, path in ray_pool.RayPool(1)(partial(nullcontext, look), [1]):
            print(file, path, sep="\\n")
finally:
    nodes.shutdown()
"""


def test_cluster_workers_import_nothing_from_the_folder(tmp_path):
    clone, quick = tmp_path / "clone", tmp_path / "quick"
    for folder in (clone, quick):
        folder.mkdir()
    (quick / "rfc3987_syntax.py").write_text("raise ImportError")
    ran = tmp_path / "ran"
    for name in (
        "colorsys",
        "atc",
        "sandbox",
        "probing",
        "protocols",
        "yaml",
        "requests",
        "pydantic",
        "cloudpickle",
    ):
        (clone / f"{name}.py").write_text(
            f"open({str(ran)!r}, 'a').write({name!r})\nraise ImportError('the folder')\n"
        )
    env = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{quick}", "RAY_worker_niceness": "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", WORK],
        cwd=clone,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert not ran.exists(), (ran.read_text(), done.stderr[-2000:])
    if "timed out during startup" in done.stderr:
        pytest.skip("Ray did not start on this machine in its own time")
    assert done.returncode == 0, done.stderr[-3000:]
    file, path = done.stdout.splitlines()[-2:]
    assert str(clone) not in file + path
