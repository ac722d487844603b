# tools: shop
# expect: none
result = None
try:
    result = get_order(order_id=1)
except ToolError:
    pass
print(result["status"] if result else "none")
if result is None:
    raise SystemExit(1)
print(result["lines"][0]["quantity"])
