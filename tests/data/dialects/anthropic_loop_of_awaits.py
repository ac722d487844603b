# answer: 14
# calls at once: 1
import json

total = 0
for number in range(4):
    item = await get_item(id=number)
    total += item["id"] ** 2
print(json.dumps(total))
