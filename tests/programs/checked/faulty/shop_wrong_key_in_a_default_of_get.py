# tools: shop
# expect: missing-key line 4
rates, order = exchange_rates(base="EUR"), get_order(order_id=1)
print(rates.get(order["currency"], 1.0))
