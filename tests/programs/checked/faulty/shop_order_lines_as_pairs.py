# tools: shop
# kind: order lines given as tuples instead of objects
# expect: wrong-argument-type line 19
wish = {"AB-1001": 2, "AB-1002": 1, "QZ-7700": 5}
budget = 150.0

basket = []
total = 0.0
for sku, quantity in wish.items():
    product = get_product(sku=sku)
    quantity = min(quantity, product["stock"])
    cost = quantity * product["price"]
    if quantity < 1 or total + cost > budget:
        continue
    basket.append((sku, quantity))
    total += cost

if basket:
    create_order(customer_id=4711, lines=basket, gift=False)
    log_event(payload={"customer": 4711, "total": round(total, 2)})
print(f"{len(basket)} lines for {total:.2f}")
