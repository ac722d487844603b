# tools: shop
# expect: none
stack, total = [get_category_tree(root_id=1)], 0
while stack:
    node = stack.pop()
    total += 1
    stack.extend(node["children"])
print(total)
