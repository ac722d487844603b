# tools: shop
# expect: unknown-argument line 4
import asyncio
print(await asyncio.to_thread(get_order, id=1))
