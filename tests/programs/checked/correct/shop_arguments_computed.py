# tools: shop
# expect: none
day = "2024-" + "01" + "-05"
sku = "-".join(["AB", "1234"])
price = float("12.5")
quantity = int("2")
print(count_visits(day=day), get_product(sku=sku)["title"], search_products(query="go", max_price=price, limit=quantity * 5)["total"])
print(get_product(sku="%s-%04d" % ("AB", 7))["price"], get_product(sku="ab-1234".upper())["stock"], convert(amount=len(sku), source="EUR", target="USD"))
