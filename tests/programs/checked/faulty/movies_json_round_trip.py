# tools: movies
# kind: json
# expect: missing-key line 7
import json

copy = json.loads(json.dumps(get_film(film_id="fm_a2b3c")))
print(copy["genre"])
