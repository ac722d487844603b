# answer: {'fulfilled': [2], 'rejected': ['no item -5']}
# calls at once: 2
# monty lacks: ToolError
import asyncio


async def settle(call):
    try:
        return {"status": "fulfilled", "value": await call}
    except ToolError as error:
        return {"status": "rejected", "reason": error.body}


async def main():
    settled = await asyncio.gather(settle(get_item(id=2)), settle(get_item(id=-5)))
    good = [one["value"]["id"] for one in settled if one["status"] == "fulfilled"]
    bad = [one["reason"] for one in settled if one["status"] == "rejected"]
    return {"fulfilled": good, "rejected": bad}


result = asyncio.run(main())
return result
