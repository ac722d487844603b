# tools: bfcl:trading_bot
# expect: none
from itertools import chain

sectors = ["Technology", "Automobile"]
symbols = dict.fromkeys(chain.from_iterable(get_available_stocks(sector=s)["stock_list"] for s in sectors))
dips = [
    (symbol, gap)
    for symbol in symbols
    if (quote := get_stock_info(symbol=symbol))["percent_change"] < 0
    and (gap := quote["MA(20)"] - quote["price"]) > 0
]
dips.sort(key=lambda pair: pair[1], reverse=True)
watched = get_watchlist()["watchlist"]
for symbol, gap in dips[:3]:
    if symbol not in watched:
        watched = add_to_watchlist(stock=symbol)["watchlist"]
best, *others = dips or [("none", 0.0)]
print(f"best: {best[0]} ({best[1]:.2f}), others: {len(others)}, watching {len(watched)}")
