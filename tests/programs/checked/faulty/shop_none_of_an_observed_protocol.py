# tools: shop
# expect: none-value line 3
print(seen_price(sku="AB-1234")["price"] + 1)
