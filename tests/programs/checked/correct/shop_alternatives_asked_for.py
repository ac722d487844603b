# tools: shop
# expect: none
def label(seller):
    if "name" in seller:
        return seller["name"]
    return f"{seller['first_name']} {seller['last_name']}"


for order in list_orders(customer_id=1):
    payment = order["payment"]
    try:
        print(payment["due_date"])
    except KeyError:
        print("paid by card")
    print(payment["method"], payment.get("last4", "-"))
print([label(p["seller"]) for p in search_products(query="go")["items"]])
