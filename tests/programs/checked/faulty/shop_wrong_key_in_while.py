# tools: shop
# expect: missing-key line 5
page = 1
tags = []
while page_of_tags(page=page)["has_more"]:
    tags += page_of_tags(page=page)["tags"]
    page += 1
print(tags)
