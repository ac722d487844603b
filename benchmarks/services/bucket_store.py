"""Tools over an S3 bucket by boto3, as a user writes them; `atc` loads this module as a source."""

from __future__ import annotations

import os
from typing import Any

import boto3

_s3 = boto3.client("s3", endpoint_url=os.environ["S3_ENDPOINT"], region_name="us-east-1")


def list_objects(
    bucket: str, prefix: str = "", max_keys: int = 1000, continuation_token: str | None = None
) -> dict[str, Any]:
    """List objects of a bucket in the order of their keys, at most 1000 at a time.

    If `IsTruncated` is true, pass `NextContinuationToken` as `continuation_token` for more.

    read_only = True
    """
    more = {} if continuation_token is None else {"ContinuationToken": continuation_token}
    found = _s3.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=max_keys, **more)
    found.pop("ResponseMetadata")
    return dict(found)


def get_object(bucket: str, key: str) -> bytes:
    """Download the content of an object.

    read_only = True
    """
    return bytes(_s3.get_object(Bucket=bucket, Key=key)["Body"].read())


def head_object(bucket: str, key: str) -> dict[str, Any]:
    """Show size, media type, ETag, time of change and metadata of an object.

    read_only = True
    """
    found = _s3.head_object(Bucket=bucket, Key=key)
    names = ("ContentLength", "ContentType", "ETag", "LastModified", "Metadata")
    return {name: found[name] for name in names}


def put_object(bucket: str, key: str, text: str) -> dict[str, Any]:
    """Save a text as an object, and return its ETag."""
    found = _s3.put_object(Bucket=bucket, Key=key, Body=text.encode())
    return {"ETag": found["ETag"]}


def delete_object(bucket: str, key: str) -> None:
    """Delete an object."""
    _s3.delete_object(Bucket=bucket, Key=key)
