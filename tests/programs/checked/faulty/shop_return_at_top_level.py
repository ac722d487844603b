# tools: shop
# expect: syntax line 5
# says: Print the value
total = count_visits(day="2024-01-01")
return total
