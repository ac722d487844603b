# tools: shop
# expect: not-an-object line 3
print(count_visits(day="2024-01-01")["count"])
