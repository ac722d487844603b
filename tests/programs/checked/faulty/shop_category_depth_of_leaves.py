# tools: shop
# expect: wrong-operand line 5
# fault: every finite tree ends in categories without children, where max() gets an empty sequence: ValueError (no default)
def depth(node):
    return 1 + max(depth(child) for child in node["children"])


def count(node):
    return 1 + sum(count(child) for child in node["children"])


tree = get_category_tree(root_id=1)
print(f"{tree['name']}: {count(tree)} categories on {depth(tree)} levels")
