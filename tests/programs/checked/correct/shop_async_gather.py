# tools: shop
# expect: none
# why: a tool is called in a coroutine function, mapped over numbers and gathered; nullable carrier and notes are replaced before .title() and join
import asyncio


async def fetch(order_id):
    return get_order(order_id=order_id)


async def main(*numbers):
    orders = await asyncio.gather(*map(fetch, numbers))
    for order in orders:
        carrier = (order["shipping"]["carrier"] or "unassigned").title()
        print(f"{order['order_id']}: {carrier}, {'; '.join(order['notes'] or ['no notes'])}")
    return sum(order["status"] == "shipped" for order in orders)


shipped = asyncio.run(main(1001, 1002, 1003))
print(f"{shipped} shipped")
