# tools: places
# kind: positional argument
# expect: positional-argument line 4
city = get_city("ci_a2b3c")
print(city["name"])
