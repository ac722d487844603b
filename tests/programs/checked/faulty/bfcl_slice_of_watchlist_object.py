# tools: bfcl
# expect: not-a-list line 5
# fault: get_watchlist returns an object with the key "watchlist", and a dict cannot be sliced.
report = []
for rank, symbol in enumerate(get_watchlist()[:5], start=1):
    info = get_stock_info(symbol=symbol)
    change = info.get("percent_change")
    if change is None:
        report.append(f"{rank}. {symbol}: no data")
        continue
    arrow = "up" if change > 0 else "down" if change < 0 else "flat"
    report.append(f"{rank}. {symbol}: {arrow} {abs(change):.2f}%")
print("\n".join(report) if report else "The watchlist is empty.")
