# tools: shop
# kind: envelope invented around a map of numbers
# expect: not-an-object line 6
def to_euro(amount, currency):
    table = exchange_rates(base=currency)
    return amount * table["rates"]["EUR"]


total = 0
for sku in ["TL-0001", "TL-0002"]:
    guess = guess_price(sku=sku)
    total += to_euro(guess["price"], guess["currency"])
print(f"{total:.2f} EUR")
