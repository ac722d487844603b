# tools: shop
# kind: literal that breaks the pattern
# expect: bad-literal line 5
book = get_product(sku="BK-1001")
game = get_product(sku="gm-2002")
both = book["price"] + game["price"]
in_stock = all(p["stock"] > 0 for p in (book, game))
print(f"{both:.2f}", "now" if in_stock else "later")
