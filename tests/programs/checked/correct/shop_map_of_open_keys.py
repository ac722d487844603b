# tools: shop
# expect: none
rates = exchange_rates(base="EUR")
print(rates["USD"] * 2, rates.get("JPY", 0) + 1, sorted(rates.items(), key=lambda kv: kv[1])[0][0])
for currency, rate in rates.items():
    print(f"{currency}: {rate:.3f}")
print(max(rates, key=rates.get), list(rates)[0].lower())
