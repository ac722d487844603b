# tools: shop
# expect: bad-literal line 4
# says: vip=True
print(list_customers(vip="true"))
