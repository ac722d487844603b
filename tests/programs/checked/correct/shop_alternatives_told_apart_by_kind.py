# tools: shop
# expect: none
for p in search_products(query="go")["items"]:
    seller = p["seller"]
    if seller["kind"] != "company":
        continue
    print(seller["name"], seller["vat_id"])
pay = {"card": lambda x: x["last4"], "invoice": lambda x: x["due_date"]}
order = get_order(order_id=1)
print(pay[order["payment"]["method"]](order["payment"]))
