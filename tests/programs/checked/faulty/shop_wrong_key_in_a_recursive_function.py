# tools: shop
# expect: missing-key line 7
# says: children
def count(node):
    total = 1
    # each subtree
    for child in node["childs"]:
        total += count(child)
    return total
print(count(get_category_tree(root_id=1)))
