# tools: shop
# expect: wrong-unpacking line 4
CITIES = {"Vienna": "EUR", "Zurich": "CHF"}
for city, currency in CITIES:
    print(city, exchange_rates(base=currency))
