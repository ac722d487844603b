# tools: shop
# expect: not-a-list line 3
for visit in count_visits(day="2024-01-01"):
    print(visit)
