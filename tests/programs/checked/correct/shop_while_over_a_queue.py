# tools: shop
# expect: none
from collections import deque
queue = deque([(get_category_tree(root_id=1), 0)])
while queue:
    node, depth = queue.popleft()
    print("-" * depth + node["name"])
    for child in node["children"]:
        queue.append((child, depth + 1))
