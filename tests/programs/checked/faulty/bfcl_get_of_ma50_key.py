# tools: bfcl
# expect: missing-key line 9
# fault: get_stock_info has the moving averages "MA(5)" and "MA(20)" only; "MA(50)" is no key of it, so .get() can give nothing but None.
symbols = ["AAPL", "MSFT", "NVDA", "ZETA"]
bullish = []
for symbol in symbols:
    info = get_stock_info(symbol=symbol)
    price, short = info.get("price"), info.get("MA(5)")
    long = info.get("MA(50)")
    if price is None or short is None or long is None:
        continue
    if price > short > long:
        bullish.append(f"{symbol} ({price:.2f})")
print("Above both averages:", ", ".join(bullish) or "none")
