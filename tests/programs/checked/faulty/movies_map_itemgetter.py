# tools: movies
# kind: lambda in map and filter
# expect: missing-key line 6
from operator import itemgetter

print(sorted(map(itemgetter("name"), search_films(title="Alien"))))
