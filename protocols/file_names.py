"""Names and media types of files. A service chooses both, so neither is trusted."""

from __future__ import annotations

import email.message
import mimetypes
import re
import unicodedata
from contextlib import suppress
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

OCTETS = "application/octet-stream"
"""The media type of bytes about which nothing else is known."""
SHOWN_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The only media types that a browser is told to display. They cannot contain scripts."""
_LONGEST_NAME = 120  # characters
_LONGEST_ENCODED = 200  # bytes of UTF-8; most file systems allow 255
_LONGEST_SUFFIX = 16
_RESERVED = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE
)
"""Names that Windows reads as devices, with any ending."""
_UNSAFE = re.compile(r'[<>:"|?*\\/]')
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,80}/[a-z0-9][a-z0-9!#$&^_.+-]{0,80}")
_EXTENDED = re.compile(r"filename\*\s*=\s*\"?([\w.:-]{1,40})'[^']*'([^;\"\s]+)", re.IGNORECASE)
_CHARSET = re.compile(r'charset\s*=\s*"?([\w-]{1,40})', re.IGNORECASE)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
_TEXTUAL = re.compile(
    r"text/.*|.*[+/](json|xml|yaml|toml|csv|x?html|javascript|graphql|x-ndjson|ndjson|jsonl)"
    r"|application/(x-www-form-urlencoded|x-yaml|sql|json-seq|x-jsonlines|jwt|pgp-keys)"
)
_BINARY = re.compile(
    r"image/(?!svg\+xml).*|audio/.*|video/.*|font/.*|application/(pdf|zip|gzip|x-gzip|x-tar|x-7z.*"
    r"|x-bzip2?|x-xz|zstd|octet-stream|msword|vnd\.ms-.*|vnd\.openxmlformats.*|vnd\.oasis.*"
    r"|x-protobuf|protobuf|vnd\.apache\.(parquet|arrow).*|x-sqlite3|epub\+zip|wasm|java-archive)"
)
_SUFFIXES = {
    "text/csv": ".csv",
    "application/json": ".json",
    "text/plain": ".txt",
    "text/html": ".html",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "application/x-ndjson": ".jsonl",
    OCTETS: ".bin",
}


def safe_name(name: str) -> str:
    """Return the name of a file that is one harmless component of a path, for any text.

    Folders, control and direction characters are left out, and characters that some file system
    gives a meaning become `_`. The result is no name of a device, does not begin with a dot, a dash
    or a tilde, and has at most 120 characters. Without a usable character it is `file`.
    """
    plain = unicodedata.normalize("NFKC", name[-4096:])
    # Left out: control and direction characters, halves of characters, and unusual spaces.
    plain = "".join(c for c in plain if c == " " or unicodedata.category(c)[0] not in "CZ")
    last = re.split(r"[\\/]", plain.rstrip("\\/ ."))[-1]
    last = _UNSAFE.sub("_", last).lstrip(" .-~").rstrip(" .")
    last = re.sub(" +", " ", last)
    if _RESERVED.fullmatch(last.replace(" ", "")):
        last = f"_{last}"
    return _shortened(last) or "file"


def numbered(name: str, number: int) -> str:
    """Return the name of another file of the same name: `report-2.pdf` for `report.pdf` and 2."""
    stem, suffix = _split(name)
    return f"{stem}-{number}{suffix}"


def disposition_name(header: str) -> str:
    """Return the file name in a `Content-Disposition` header, or "" without one. It is not safe."""
    header = re.sub(r"[\r\n\0]", " ", header[:4096])
    if encoded := _EXTENDED.search(header):  # it wins over a plain name beside it (RFC 6266)
        with suppress(LookupError, ValueError):
            return unquote(encoded[2], encoding=encoded[1], errors="replace")
    message = email.message.Message()
    message["Content-Disposition"] = header
    try:
        name = message.get_filename("")
    except (ValueError, LookupError, TypeError):  # a charset that does not exist
        return ""
    try:
        return name.encode("latin-1").decode("utf-8")  # a name in UTF-8 that was read as Latin-1
    except ValueError:
        return name


def name_for(*, disposition: str = "", url: str = "", media_type: str = "", tool: str = "") -> str:
    """Return a safe name for a body that a tool returned.

    It is the name that the service gives it, else the last part of the address if that has an
    ending, else the name of the tool with the ending of the media type.
    """
    if found := disposition_name(disposition):
        return safe_name(found)
    last = unquote(url.partition("?")[0].rpartition("/")[2])
    if re.fullmatch(r"[^{}]+\.\w{1,8}", last) and not last.isdigit():
        return safe_name(last)
    return safe_name(f"{tool or 'file'}{suffix_of(media_type)}")


def suffix_of(media_type: str) -> str:
    """Return the usual ending of the name of a file with this media type, such as `.pdf`, or ""."""
    plain = media_type.partition(";")[0].strip()
    return _SUFFIXES.get(plain) or mimetypes.guess_extension(plain) or ""


def clean_media_type(header: str) -> str:
    """Return the media type of a `Content-Type` header in lower case, or "" if it has none.

    A text keeps its charset, unless that is UTF-8: `text/csv; charset=windows-1252`.
    """
    plain = header.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(plain):
        return ""
    charset = _CHARSET.search(header)
    named = charset[1].lower() if charset else "utf-8"
    return plain if named in ("utf-8", "utf8", "us-ascii") else f"{plain}; charset={named}"


def is_binary_type(media_type: str) -> bool:
    """Return True if bodies of this media type are not text: images, archives, office documents."""
    return _BINARY.fullmatch(media_type.partition(";")[0].strip()) is not None


def is_text_type(media_type: str) -> bool:
    """Return True if bodies of this media type are text."""
    return _TEXTUAL.fullmatch(media_type.partition(";")[0].strip()) is not None


def sniffed_type(beginning: bytes) -> str:
    """Return the media type of well-known formats, from the first bytes of a file, or ""."""
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in _SIGNATURES:
        if beginning.startswith(signature):
            return media_type
    return ""


def attachment(name: str) -> str:
    """Return the value of a `Content-Disposition` header that lets a browser save a file."""
    plain = re.sub(r'[^\x20-\x7e]|["\\%]', "_", name)
    encoded = quote(name, safe="")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}"


def _split(name: str) -> tuple[str, str]:
    """Return a name without its ending, and the ending with its dot, or ""."""
    suffixes = PurePosixPath(name).suffixes
    suffix = "".join(suffixes[-2:]) if name.endswith((".tar.gz", ".tar.xz", ".tar.bz2")) else ""
    suffix = suffix or (suffixes[-1] if suffixes else "")
    if len(suffix) > _LONGEST_SUFFIX:
        suffix = ""
    return name[: len(name) - len(suffix)], suffix


def _shortened(name: str) -> str:
    """Return a name cut to the allowed length, with its ending."""
    stem, suffix = _split(name)
    stem = stem[: _LONGEST_NAME - len(suffix)]
    while len((stem + suffix).encode("utf-8", "replace")) > _LONGEST_ENCODED:
        stem = stem[:-1]
    return f"{stem.rstrip(' .')}{suffix}"
