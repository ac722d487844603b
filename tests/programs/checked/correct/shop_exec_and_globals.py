# tools: shop
# expect: none
exec("hidden = 5")
print(hidden, globals()["hidden"], get_order(order_id=1)["status"])
