# tools: bfcl:trading_bot
# kind: misspelt key in a lambda
# expect: missing-key line 10
stocks = get_available_stocks(sector="Technology")["stock_list"]
affordable = filter_stocks_by_price(stocks=stocks, min_price=20, max_price=400)["filtered_stocks"]
quotes = {s: get_stock_info(symbol=s) for s in affordable}

def momentum(item):
    name, quote = item
    return (quote["price"] - quote["MA20"]) / quote["price"]

ranked = sorted(quotes.items(), key=momentum, reverse=True)
for name, quote in ranked[:3]:
    print(f"{name}: {quote['price']:.2f} ({quote['percent_change']:+.1f}%)")
