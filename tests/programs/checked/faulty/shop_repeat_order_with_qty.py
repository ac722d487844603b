# tools: shop
# expect: wrong-argument-type line 11
# fault: a line of create_order requires sku and quantity, but the basket's lines have qty instead
customer = get_customer(customer_id=42)
last = customer["last_order"]
if last is None:
    print(f"{customer['name']} has not ordered yet")
else:
    previous = get_order(order_id=last)
    basket = [{"sku": line["sku"], "qty": max(1, line["quantity"])} for line in previous["lines"]]
    again = create_order(customer_id=customer["customer_id"], lines=basket, labels=["repeat"])
    print(f"Order {again['order_id']} is {again['status']}, {len(again['lines'])} lines")
