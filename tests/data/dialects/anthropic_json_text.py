# answer: 2
# calls at once: 1
import json

text = await echo(text=json.dumps({"rows": [1, 2]}))
rows = json.loads(text)["rows"]
print(len(rows))
