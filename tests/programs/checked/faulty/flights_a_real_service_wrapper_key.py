# tools: flights
# expect: not-an-object line 4
# says: leave out
print(search_airports(query="Boston")["airports"][0]["code"])
