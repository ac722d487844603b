# tools: shop
# expect: syntax line 3
print("a\0b" + chr(0)) if then
