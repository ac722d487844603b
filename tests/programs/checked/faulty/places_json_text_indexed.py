# tools: places
# kind: json
# expect: not-an-object line 7
import json

text = json.dumps(get_city(city_id="ci_a2b3c"))
print(text["name"])
