"""The index of a tool set, on disk or in memory.

`index.py` the index · `state.py` what it holds at one moment: a frozen segment and a small delta · `live.py` rankers
over both · `segment.py` a segment and how it is made, `vectors.py` and `embedded.py` its vectors · `stored.py` an index
on disk · `folder.py` its manifest, lock and checks · `changes.py` its log of changes.
"""

from atc.retrieve.index.index import Synced, ToolIndex

__all__ = ["Synced", "ToolIndex"]
