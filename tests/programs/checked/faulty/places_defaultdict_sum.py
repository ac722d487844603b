# tools: places
# kind: defaultdict
# expect: missing-key line 8
from collections import defaultdict

people = defaultdict(int)
for found in search_cities(query="San"):
    people[found["country_id"]] += found["population"]
print(dict(people))
