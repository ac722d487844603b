# tools: shop
# expect: none
import asyncio

async def fetch(number):
    return await asyncio.to_thread(get_order, order_id=number)

async def main():
    orders = await asyncio.gather(*(fetch(n) for n in range(1, 4)))
    for order in orders:
        print(order["status"], order["lines"][0]["sku"])
    first, second = await asyncio.gather(fetch(1), fetch(2))
    return first["order_id"] + second["order_id"]

print(asyncio.run(main()))
