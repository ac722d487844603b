# tools: shop
# expect: none
customers = list_customers(vip=True)
print(sum(c["vip"] for c in customers), sum(c["name"].startswith("A") for c in customers), True + len(customers))
