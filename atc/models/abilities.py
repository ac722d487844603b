"""What an endpoint accepts, learned from its refusals and remembered between processes.

OpenAI-compatible endpoints differ: some only stream, know no system role, or refuse a parameter. A
request that was refused for such a reason is sent again in a form that the endpoint accepts.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from atc.models.dialects import CONTINUING_FIELDS, GRAMMAR_FIELDS
from atc.models.endpoint import RequestRefused
from protocols.private_files import CannotWrite, write_whole
from protocols.schema import Json

OPTIONAL = GRAMMAR_FIELDS | CONTINUING_FIELDS | {
    "response_format", "temperature", "seed", "stream_options",
}  # fmt: skip
"""Request fields that are left out if an endpoint refuses them."""
LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
"""The names under which endpoints take the limit of tokens of a reply."""
_WORDS = re.compile(r"[a-z_]+")
_SECONDS = 30 * 86_400.0
"""How long something is remembered. An endpoint may have been updated since."""
_MOST_ENTRIES = 200


@dataclass(slots=True, kw_only=True)
class Abilities:
    """What an endpoint accepts, as far as its refusals have shown.

    `refused` are the optional fields of requests that it has refused. `reasoning_tokens` is added
    to the limit of tokens of each reply, for thoughts that count towards it.
    """

    limit_name: str = "max_tokens"
    reasoning_tokens: int = 0
    only_streams: bool = False
    has_system_role: bool = True
    refused: set[str] = field(default_factory=set)

    def learn(self, refused: RequestRefused, body: Mapping[str, Any]) -> bool:
        """Record why the endpoint refused the request `body`.

        Return False if its error message names nothing that can be changed. Otherwise less can be
        changed next time, so requests are not repeated endlessly.
        """
        said = set(_WORDS.findall(refused.detail.lower()))
        named = said if refused.field is None else set(_WORDS.findall(refused.field))
        if "max_tokens" in body and "max_tokens" in named:
            self.limit_name = "max_completion_tokens"
            return True
        if "stream" in said and not self.only_streams and "stream_options" not in said:
            self.only_streams = True
            return True
        if "system" in said and said & {"role", "roles", "message", "messages", "instruction"}:
            learned = self.has_system_role and any(m["role"] == "system" for m in body["messages"])
            self.has_system_role = False
            return learned
        return self._drop_fields(named, body)

    def _drop_fields(self, named: set[str], body: Mapping[str, Any]) -> bool:
        """Leave out the `named` fields of a body from now on. Return False if it has none."""
        if "json_schema" in named:
            named.add("response_format")
        found = named & OPTIONAL & body.keys()
        # `strict` may be refused for a keyword of this schema alone: send this schema again without
        # it, but the next one with it.
        if "response_format" in found and body["response_format"]["json_schema"].pop(
            "strict", None
        ):
            return True
        self.refused |= found | (CONTINUING_FIELDS if found & CONTINUING_FIELDS else set())
        return bool(found)


class AbilitiesFile:
    """A file in which the abilities of endpoints are remembered, keyed by address and model.

    A file that is damaged or cannot be written is ignored: then everything is learned again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, url: str, model: str) -> Abilities | None:
        """Return what is remembered about a model at an address, or None."""
        entry = self._read().get(_key(url, model))
        if not isinstance(entry, dict) or not _is_recent(entry.get("at")):
            return None
        limit = entry.get("limit_name")
        tokens = entry.get("reasoning_tokens")
        refused = entry.get("refused")
        return Abilities(
            limit_name=limit if limit in LIMIT_NAMES else LIMIT_NAMES[0],
            reasoning_tokens=tokens if isinstance(tokens, int) and 0 <= tokens < 10**6 else 0,
            only_streams=entry.get("only_streams") is True,
            has_system_role=entry.get("has_system_role") is not False,
            refused=set(OPTIONAL) & set(map(str, refused if isinstance(refused, list) else ())),
        )

    def save(self, url: str, model: str, abilities: Abilities) -> None:
        """Remember the abilities of a model at an address."""
        entry = {**asdict(abilities), "refused": sorted(abilities.refused), "at": time.time()}
        kept = {**self._read(), _key(url, model): entry}
        recent = [(key, one) for key, one in kept.items() if _is_recent(one.get("at"))]
        with suppress(CannotWrite):
            write_whole(self._path, json.dumps(dict(recent[-_MOST_ENTRIES:]), indent=1))

    def _read(self) -> dict[str, Any]:
        try:
            entries: Json = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(entries, dict):
            return {}
        return {key: one for key, one in entries.items() if isinstance(one, dict)}


def _is_recent(moment: Json) -> bool:
    now = time.time()
    return isinstance(moment, int | float) and now - _SECONDS < moment <= now


def _key(url: str, model: str) -> str:
    """Return the key of an entry. An address may contain a secret, so it is not stored."""
    return hashlib.sha256(f"{url}\n{model}".encode(errors="replace")).hexdigest()
