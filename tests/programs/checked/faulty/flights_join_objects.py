# tools: flights
# kind: methods of str, list and dict
# expect: wrong-operand line 4
print(", ".join(search_airports(query="New York")))
