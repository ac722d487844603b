"""Decompression of HTTP bodies."""

import gzip
import zlib

import pytest

from protocols.http.decoding import DamagedBody, decompressor_for


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_body_is_decompressed(encoding, compress):
    assert b"".join(decompressor_for(encoding)(compress(b"text" * 9))) == b"text" * 9


def test_other_bytes_are_damaged():
    with pytest.raises(DamagedBody):
        list(decompressor_for("gzip")(b"no gzip at all, but text"))
