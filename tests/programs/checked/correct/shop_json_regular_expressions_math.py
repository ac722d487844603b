# tools: shop
# expect: none
import json, math, re

text = get_text(name="numbers")
numbers = [float(n) for n in re.findall(r"\d+\.?\d*", text)]
data = json.loads(json.dumps(get_order(order_id=1)))
print(math.sqrt(sum(numbers)), data["shipping"]["days"], json.dumps({"n": len(numbers)}, indent=2))
