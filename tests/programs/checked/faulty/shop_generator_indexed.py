# tools: shop
# expect: not-a-list line 10
def pages():
    number = 1
    while (found := page_of_tags(page=number))["more"]:
        yield from found["tags"]
        number += 1


print(pages()[0])
