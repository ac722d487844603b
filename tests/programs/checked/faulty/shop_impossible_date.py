# tools: shop
# expect: bad-literal line 4
# says: a date
print(count_visits(day="2023-02-30"))
