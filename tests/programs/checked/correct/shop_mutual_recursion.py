# tools: shop
# expect: none
def even(node):
    return 1 + sum(odd(c) for c in node["children"])

def odd(node):
    return sum(even(c) for c in node["children"])

print(even(get_category_tree(root_id=1)))
