# tools: shop
# expect: none
class Converter:
    def __init__(self, base):
        self.base = base
        self._rates = exchange_rates(base=base)

    def __contains__(self, code):
        return code == self.base or code in self._rates

    def __call__(self, amount, code):
        return amount if code == self.base else amount / self._rates[code]


euro = Converter("EUR")
skus = [f"{letters}-{number:04d}" for letters in ("AB", "QX") for number in (7, 42)]
quotes, unknown = {}, []
for sku in skus:
    guess = guess_price(sku=sku)
    if guess["currency"] not in euro:
        unknown.append(sku)
        continue
    seen = seen_price(sku=sku)["price"]
    product = get_product(sku=sku)
    size = product["dimensions"]
    area = size["width_cm"] * size["height_cm"] if size else None
    quotes[sku] = min(filter(None, (euro(guess["price"], guess["currency"]), seen, product["price"])), default=0)
    colors = {v["color"] for v in product.get("variants", [])}
    print(sku, f"{quotes[sku]:.2f}", f"{area:.0f} cm2" if area is not None else "", *sorted(colors))
print("unknown currency:", ", ".join(unknown) or "none", "| total", round(sum(quotes.values()), 2))
