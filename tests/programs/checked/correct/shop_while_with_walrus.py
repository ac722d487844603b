# tools: shop
# expect: none
page = 0
tags = []
while (answer := page_of_tags(page=(page := page + 1)))["more"]:
    tags.extend(answer["tags"])
print(len(tags), answer["page"])
