# tools: shop
# expect: not-a-list line 5
# says: list(
rates = exchange_rates(base="EUR")
print(rates.values()[0])
