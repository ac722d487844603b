import asyncio

names = []
async with asyncio.timeout(5):
    item = await asyncio.to_thread(get_item, id=4)
    names.append(item["name"])
await asyncio.sleep(0, names)
