# tools: bfcl
# expect: none
# why: coroutines that are awaited through asyncio.gather; the results are zipped back to their symbols
import asyncio
from operator import itemgetter


async def price(symbol, *, default=0.0):
    await asyncio.sleep(0)
    return get_stock_info(symbol=symbol).get("price", default)


async def main():
    stocks = get_available_stocks(sector="Energy").get("stock_list", [])
    prices = await asyncio.gather(*(price(s) for s in stocks))
    board = sorted(zip(stocks, prices), key=itemgetter(1), reverse=True)
    return board[:5], sum(prices)


top, total = asyncio.run(main())
for symbol, value in top:
    print(symbol.ljust(6), f"{value:10.2f}")
print(f"{total:.2f} for one share of each")
