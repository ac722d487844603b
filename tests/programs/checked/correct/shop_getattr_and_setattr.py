# tools: shop
# expect: none
class Box:
    pass
box = Box()
box.order = get_order(order_id=1)
box.order["x"] = 1
print(box.order["status"], getattr(box, "order")["anything"], getattr(get_order(order_id=1), "status", None))
