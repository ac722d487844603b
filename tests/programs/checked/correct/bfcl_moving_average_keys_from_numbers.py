# tools: bfcl
# expect: none
# why: The keys "MA(5)" and "MA(20)" are made by an f-string, and None is tested by `None in` before the values are unpacked and compared.
def trend(symbol: str) -> str:
    info = get_stock_info(symbol=symbol)
    averages = [info.get(f"MA({days})") for days in (5, 20)]
    if None in averages:
        return "unknown"
    short, long = averages
    return "rising" if short > long else "falling" if short < long else "flat"


symbols = get_watchlist().get("watchlist", [])
trends = {symbol: trend(symbol) for symbol in symbols}
order = ("rising", "flat", "falling", "unknown")
for symbol, way in sorted(trends.items(), key=lambda kv: (order.index(kv[1]), kv[0])):
    print(f"{symbol}: {way}")
print(f"{sum(way == 'rising' for way in trends.values())} of {len(trends)} rising")
