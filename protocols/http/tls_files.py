"""Certificates of the user's own for the connections to single hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from protocols.settings import Credential
from protocols.urls import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """PEM files for TLS connections to one origin; "" stands for the usual ones, or none."""

    ca: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def problem(self) -> str:
        """Why one of the files cannot be read, or ""."""
        for name in filter(None, (self.ca, self.certificate, self.key)):
            try:
                with Path(name).open("rb"):
                    pass
            except OSError as error:
                return f"the certificate file {name} cannot be read: {error.strerror}"
        return ""


def tls_files_for(origin: Origin, credentials: Iterable[Credential]) -> TlsFiles:
    """Return the files of those credentials that may go to an origin. Plain HTTP uses no files."""
    if origin.scheme != "https":
        return TlsFiles()
    known = [one for one in credentials if one.may_go_to(origin)]
    owner = next((one for one in known if one.certificate), None)
    return TlsFiles(
        ca=next((one.ca for one in known if one.ca), ""),
        certificate=owner.certificate if owner else "",
        key=(owner.key or owner.certificate) if owner else "",
    )
