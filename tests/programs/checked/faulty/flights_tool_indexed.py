# tools: flights
# kind: tools that are not called
# expect: not-an-object line 4
print(list_airlines[0]["name"])
