# tools: shop
# expect: none
order = get_order(order_id=1)
print(order["status"] == "open", order["order_id"] == 1, order["shipping"]["days"] == 1.0, order["notes"] == [], order["delay_days"] != 0)
print(order == get_order(order_id=1), order["totals"] == {}, order["shipping"]["carrier"] == "DHL", order["status"] in ("open", "closed"))
print("open" in order["status"], "order_id" in order, 3 in [o["order_id"] for o in list_orders(customer_id=1)], order["status"] != "lost")
print((order["order_id"], "x") == (1, "x"), order["lines"][0] == {"sku": "a"}, "a" == "b", 1 == 2)
