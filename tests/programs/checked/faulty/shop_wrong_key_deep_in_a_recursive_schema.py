# tools: shop
# expect: missing-key line 4
tree = get_category_tree(root_id=1)
print(tree["children"][0]["children"][0]["title"])
