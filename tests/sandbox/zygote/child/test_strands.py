"""Functions in one thread that wait for replies."""

from __future__ import annotations

import json
import os

from sandbox.channel import Channel
from sandbox.zygote.child import strands


def test_strands_go_on_in_the_order_of_replies():
    theirs, writer = os.pipe()
    reader, ours = os.pipe()
    channel = Channel(
        reader, lambda size: os.read(reader, size), lambda data: os.write(writer, data)
    )
    strands.start(channel)
    heard = []

    async def work(name):
        for number in (1, 2):
            reply = await strands.ask("tool", {"number": number}, (1, ""))
            heard.append((name, reply["value"]))
        if name == "b":
            raise ValueError(name)
        return name

    ended = []
    for name in ("a", "b"):
        strands.Strand(work(name), lambda *how: ended.append(how)).resume()
    asked = [json.loads(line) for line in os.read(theirs, 65536).splitlines()]
    assert [one["args"]["number"] for one in asked] == [1, 1], "both have begun"
    for number in range(4):
        os.write(ours, json.dumps({"id": number, "value": number}).encode() + b"\n")
    while strands.advance():
        pass
    assert heard == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]
    (first, failed) = ended
    assert (first, failed[0], str(failed[1])) == (("a", None), None, "b")
