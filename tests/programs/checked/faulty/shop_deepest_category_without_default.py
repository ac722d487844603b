# tools: shop
# kind: the largest of nothing
# expect: wrong-operand line 7
# expect: wrong-operand line 11
# says: default=0
def deepest(node):
    return max([deepest(part) + 1 for part in node["children"]])


def longest(node):
    below = max(map(longest, node["children"]))
    return below + len(node["name"])


tree = get_category_tree(root_id=1)
print(deepest(tree), longest(tree))
