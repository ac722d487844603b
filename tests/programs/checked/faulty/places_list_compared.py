# tools: places
# kind: comparisons
# expect: wrong-operand line 4
if list_neighbours(country_id="co_a2b3c") > 3:
    print("many neighbours")
