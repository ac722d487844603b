# tools: shop
# expect: none
seller = get_product(sku="AB-1234")["seller"]
if seller["kind"] == "company":
    print(seller["name"])
else:
    print(seller["first_name"] + " " + seller["last_name"])
payment = get_order(order_id=1)["payment"]
print(payment["last4"] if payment["method"] == "card" else payment["due_date"])
