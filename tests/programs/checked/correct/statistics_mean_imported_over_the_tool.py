# tools: bfcl
# expect: none
# why: mean is imported from statistics and so takes one positional argument here: it is not the tool of that name
from statistics import mean, pstdev

changes = {}
for symbol in get_watchlist().get("watchlist", []):
    info = get_stock_info(symbol=symbol)
    if "percent_change" in info:
        changes[symbol] = info["percent_change"]

if len(changes) > 1:
    middle, spread = mean(changes.values()), pstdev(changes.values())
    outliers = [s for s, c in changes.items() if abs(c - middle) > 2 * spread]
    print(f"mean {middle:+.2f}, spread {spread:.2f}, outliers: {outliers or 'none'}")
else:
    print("too few stocks")
