# tools: shop
# expect: none
customer = get_customer(customer_id=1)
both = {**customer, **get_order(order_id=1)}
both["phone"] = "-"
print(both.get("phone", "unknown"), both.get("status"))
plain = {"a": 1}
print(plain.get("b", 0), both.get("error"))
mixed = {**review_summary(sku="AB-1234"), **customer}
print(mixed.get("stars", 0), mixed["name"].upper())
fixed = [{**p, "rating": p["rating"] or 0} for p in search_products(query="go")["items"]]
print(sum(p["rating"] for p in fixed))
rated = [p | {"rating": p["rating"] or 0} for p in search_products(query="go")["items"]]
print(sum(p["rating"] for p in rated))
named = {"name": None, **customer}
print(named["name"].upper())
