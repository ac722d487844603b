# tools: shop
# expect: none
pages = []
for n in (1, 2):
    pages.append(page_of_tags(page=n)["tags"])
flat = [t for page in pages for t in page]
pages.append([1, 2])
print(flat[0].upper(), sum(pages, [])[0], max(pages, key=len)[0])
