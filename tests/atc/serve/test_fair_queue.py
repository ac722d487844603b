"""Fair shares of a gateway for its clients."""

import asyncio

import pytest

from atc.serve.fair_queue import FairQueue, TooMany


def test_a_busy_client_leaves_places_to_others():
    async def talk():
        queue = FairQueue(2, each=1, waiting=1)
        first = await queue.take("busy")
        waiting = asyncio.create_task(queue.take("busy"))
        await asyncio.sleep(0)
        other = await queue.take("other")
        with pytest.raises(TooMany, match="2 requests of this client"):
            await queue.take("busy")
        assert not waiting.done()
        first.close()
        (await waiting).close()
        other.close()

    asyncio.run(talk())
