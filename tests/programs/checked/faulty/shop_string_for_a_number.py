# tools: shop
# expect: wrong-argument-type line 5
# says: must be a number
title = get_product(sku="AB-1234")["title"]
print(convert(amount=title, source="EUR", target="USD"))
