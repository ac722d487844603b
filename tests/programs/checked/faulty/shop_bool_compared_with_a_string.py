# tools: shop
# expect: never-equal line 3
print([c["name"] for c in list_customers() if c["vip"] == "yes"])
