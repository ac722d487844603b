"""MailDev 2 from the npm registry, with 130 messages that arrived by SMTP."""

from __future__ import annotations

import hashlib
import random
import smtplib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import DOCUMENTS, RunningService, install_node, work_folder

_BOXES = ("sales@example.org", "support@example.org", "ann@example.org")
_CSV = "item,amount\n" + "".join(f"{number},{number * 7 % 100}\n" for number in range(1, 61))
LOGO = b"\x89PNG\r\n\x1a\n" + random.Random(8).randbytes(30_000)
ARCHIVE = random.Random(9).randbytes(9_000_000)


def _sent(number: int) -> datetime:
    return datetime(2026, 1, 1, 9, tzinfo=UTC) + timedelta(days=(number * 29) % 131)


def _subject(number: int) -> str:
    return {7: "007", 60: "3.10"}.get(number, f"Message {number}")


def _message(number: int) -> EmailMessage:
    message = EmailMessage()
    message["From"] = f"Sender {number} <sender{number}@example.com>"
    message["To"] = _BOXES[number % 3]
    message["Subject"] = _subject(number)
    message["Date"] = format_datetime(_sent(number))
    message.set_content(f"This is message {number}. The code is {number:05}.\n")
    if number == 50:
        message.add_attachment(_CSV, subtype="csv", filename="amounts.csv")
        message.add_attachment(LOGO, maintype="image", subtype="png", filename="logo.png")
    if number == 51:
        message.add_attachment(
            ARCHIVE, maintype="application", subtype="zip", filename="archive.zip"
        )
    return message


NUMBERS = range(1, 131)


def _truths() -> dict[str, Any]:
    return {
        "count": len(NUMBERS),
        "sales": sum(number % 3 == 0 for number in NUMBERS),
        "oldest": _subject(min(NUMBERS, key=_sent)),
        "march": sum(_sent(number).month == 3 for number in NUMBERS),
        "subject": "3.10",
        "code": "00042",
        "csv": sum(number * 7 % 100 for number in range(1, 61)),
        "logo": hashlib.sha256(LOGO).hexdigest(),
        "archive": hashlib.sha256(ARCHIVE).hexdigest(),
        "media-type": "image/png",
        "delete": len(NUMBERS) - 1,
        "read-all": 0,
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run MailDev with its messages while the context is open."""
    commands = install_node(folder, "maildev@2.2.1")
    port, smtp = free_port(), free_port()
    with work_folder(folder) as work:
        ports = ["--web", str(port), "--smtp", str(smtp), "--ip", "127.0.0.1"]
        start = [str(commands / "maildev"), "--mail-directory", str(work / "mail"), *ports]
        with run_in_background(start, port=port, folder=work):
            url = f"http://127.0.0.1:{port}"
            with smtplib.SMTP("127.0.0.1", smtp, timeout=60) as client:
                for number in NUMBERS:
                    client.send_message(_message(number))

            def emails(**values: str) -> list[dict[str, Any]]:
                return list(requests.get(f"{url}/email", params=values, timeout=60).json())

            yield RunningService(
                tools=f"{DOCUMENTS / 'maildev.yaml'}@{url}",
                truths=_truths(),
                written={
                    "delete": lambda: not emails(subject="Message 33"),
                    "read-all": lambda: all(one["read"] for one in emails()),
                },
            )
