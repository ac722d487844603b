"""Retrieval by agents over a hierarchy of tools (AnyTool), and the two rivals that its paper compares it with."""

from __future__ import annotations

from atc.retrieve.hierarchy.anytool import AnyTool
from atc.retrieve.hierarchy.budget import Budget
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.plain_agent import PlainAgent
from atc.retrieve.hierarchy.search import Search
from atc.retrieve.hierarchy.segments import SegmentRetriever

__all__ = ["AnyTool", "Budget", "Options", "PlainAgent", "Search", "SegmentRetriever"]
