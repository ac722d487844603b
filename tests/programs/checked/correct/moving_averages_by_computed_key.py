# tools: bfcl
# expect: none
# why: the keys 'MA(5)' and 'MA(20)' are made by an f-string, and optional numbers are filtered before they are compared
def averages(info, windows=(5, 20)):
    return {n: info[key] for n in windows if (key := f"MA({n})") in info}


verdicts = {}
for company in ("Nvidia", "Apple", "Microsoft"):
    symbol = get_symbol_by_name(name=company).get("symbol", "Stock not found")
    if symbol == "Stock not found":
        verdicts[company] = "unknown"
        continue
    ma = averages(get_stock_info(symbol=symbol))
    match sorted(ma.items()):
        case [(5, short), (20, long)]:
            verdicts[company] = "rising" if short > long else "falling" if short < long else "flat"
        case [(n, only)]:
            verdicts[company] = f"only {n} days: {only:.2f}"
        case _:
            verdicts[company] = "no averages"

width = max(map(len, verdicts))
for company, verdict in verdicts.items():
    print(f"{company:>{width}}: {verdict}")
