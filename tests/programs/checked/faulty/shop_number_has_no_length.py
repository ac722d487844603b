# tools: shop
# expect: not-a-list line 3
print(len(count_visits(day="2024-01-01")))
