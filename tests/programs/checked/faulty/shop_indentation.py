# tools: shop
# expect: syntax line 5
x = 1
if x:
print(x)
