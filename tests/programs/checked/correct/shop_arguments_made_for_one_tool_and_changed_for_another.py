# tools: shop
# expect: none
arguments = {"query": "go", "extra": 1}
arguments.pop("extra")
print(search_products(**arguments)["total"])
options = {"status": "open", "odd": 2}
del options["odd"]
print(list_orders(customer_id=1, **options))
for n in (1, 2):
    more = {"customer_id": n}
    if n > 1:
        more["status"] = "paid"
    print(len(list_orders(**more)))
