# tools: shop
# expect: none
limit = int(100 / 3)
print(search_products(query="go", limit=limit, max_price=10)["total"], get_order(order_id=4 // 2)["status"], get_order(order_id=3.0)["status"])
