"""Amazon S3 as moto 5 imitates it, reached by a module over boto3; a page has 1,000 objects."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import RunningService, install_python, work_folder

_LOGS = {
    f"logs/{date(2025, 1, 1) + timedelta(days=number // 2)}/part-{number % 2}.txt": "x"
    * (number % 50)
    for number in range(1, 1101)
}
OBJECTS: dict[str, bytes] = {
    **{key: text.encode() for key, text in _LOGS.items()},
    "media/logo.png": b"\x89PNG\r\n" + random.Random(5).randbytes(50_000),
    "media/film.bin": random.Random(6).randbytes(9_000_000),
    "settings/version.txt": b"3.10",
    "settings/code.txt": b"007",
}
_KEY = "testing"
_SIGNED = {
    "Authorization": f"AWS4-HMAC-SHA256 Credential={_KEY}/20260101/us-east-1/s3/aws4_request,"
    " SignedHeaders=host, Signature=0"
}
"""Headers of an owner's request. moto does not verify the signature."""


def _truths() -> dict[str, Any]:
    march = [key for key in OBJECTS if key.startswith("logs/2026-03")]
    return {
        "count": len(OBJECTS),
        "bytes": sum(map(len, OBJECTS.values())),
        "march": len(march),
        "last-log": max(key for key in OBJECTS if key.startswith("logs/")),
        "first-three": sorted(OBJECTS)[:3],
        "code": "007",
        "logo": hashlib.sha256(OBJECTS["media/logo.png"]).hexdigest(),
        "film": hashlib.sha256(OBJECTS["media/film.bin"]).hexdigest(),
        "etag": hashlib.md5(b"3.10", usedforsecurity=False).hexdigest(),
        "largest": "media/film.bin",
        "save": "buy 0.50 kg",
        "delete": 1,
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run moto's server with a bucket of 1,104 objects while the context is open."""
    python = install_python(folder, "moto[server]==5.2.5", "boto3")
    port = free_port()
    with work_folder(folder) as work:
        start = [str(python), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        with run_in_background(start, port=port, folder=work):
            url = f"http://127.0.0.1:{port}"
            bucket = f"{url}/archive"  # moto takes requests without a signature
            requests.put(bucket, timeout=30).raise_for_status()

            def put(item: tuple[str, bytes]) -> None:
                requests.put(f"{bucket}/{item[0]}", data=item[1], timeout=30).raise_for_status()

            with ThreadPoolExecutor(4) as pool:
                list(pool.map(put, OBJECTS.items()))

            def text(key: str) -> str:
                return requests.get(f"{bucket}/{key}", headers=_SIGNED, timeout=30).text

            packages = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
            yield RunningService(
                tools=str(Path(__file__).with_name("bucket_store.py")),
                truths=_truths(),
                variables={
                    "S3_ENDPOINT": url,
                    "AWS_ACCESS_KEY_ID": _KEY,
                    "AWS_SECRET_ACCESS_KEY": _KEY,
                    "PYTHONPATH": str(packages),
                },
                written={
                    "save": lambda: text("notes/shopping.txt") == "buy 0.50 kg",
                    "delete": lambda: "NoSuchKey" in text("settings/code.txt"),
                },
            )
