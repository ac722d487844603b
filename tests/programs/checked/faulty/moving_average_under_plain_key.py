# tools: bfcl
# expect: missing-key line 7
# fault: get_stock_info names the moving average 'MA(5)', there is no 'MA5', so .get gives the default and no stock ever passes
def momentum(symbol):
    info = get_stock_info(symbol=symbol)
    price = info.get("price", 0.0)
    average = info.get("MA5")
    if not average:
        return None
    return (price - average) / average


scores = {}
for symbol in get_available_stocks(sector="Technology").get("stock_list", []):
    if (m := momentum(symbol)) is not None:
        scores[symbol] = m

for symbol, score in sorted(scores.items(), key=lambda kv: kv[1], reverse=True)[:3]:
    print(f"{symbol}: {score:+.2%}")
