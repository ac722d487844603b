# tools: shop
# expect: none
node = {"name": "start", "children": [get_category_tree(root_id=1)]}
depth = 0
while node["children"]:
    node = node["children"][0]
    depth += 1
print(depth, node["name"])
