# tools: shop
# expect: none
order = get_order(order_id=1)
status = order.status if hasattr(order, "status") else order["status"]
print(status)
