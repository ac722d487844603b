# tools: shop
# expect: none
import json
text = get_text(name="config")
data = json.loads(text)
print(data["a"], data[0], int(text[:3]), float(text.split(",")[1]), [int(x) for x in text.split()])
