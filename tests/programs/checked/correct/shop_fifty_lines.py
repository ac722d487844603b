# tools: shop
# expect: none
from collections import defaultdict


def all_products(query, limit=50):
    cursor = None
    while True:
        page = search_products(query=query, cursor=cursor, limit=limit)
        for product in page["items"]:
            yield product
        cursor = page["next_cursor"]
        if not cursor:
            return


def price_in_dollars(product):
    return convert(amount=product["price"], source="EUR", target="USD")


def describe(product):
    size = product["dimensions"]
    words = [product["title"], f"{price_in_dollars(product):.2f} USD"]
    if size is not None:
        words.append(f"{size['width_cm']:.0f} x {size['height_cm']:.0f}")
    if product["rating"] is not None and product["rating"] > 4:
        words.append("recommended")
    return ", ".join(words)


by_category = defaultdict(list)
for product in all_products("chess"):
    by_category[product["category"]["name"]].append(product)

totals = {}
for customer in list_customers(vip=True):
    spent = 0.0
    for order in list_orders(customer_id=customer["customer_id"], status="paid"):
        spent += sum(line["quantity"] * line["unit_price"] for line in order["lines"])
        if order["delay_days"] is None:
            continue
        if order["delay_days"] > 3:
            print("late:", order["order_id"], order["shipping"]["address"]["city"])
    totals[customer["name"]] = spent

best = sorted(totals.items(), key=lambda item: item[1], reverse=True)[:3]
for name, amount in best:
    print(f"{name}: {amount:.2f}")
for name, products in sorted(by_category.items()):
    cheapest = min(products, key=lambda p: p["price"])
    print(name, len(products), describe(cheapest))
rates = exchange_rates(base="EUR")
print({code: round(rate, 2) for code, rate in rates.items() if rate > 1})
