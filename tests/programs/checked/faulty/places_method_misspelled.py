# tools: places
# kind: methods of str, list and dict
# expect: no-attribute line 4
print(search_cities(query="Oslo")[0]["name"].uppercase())
