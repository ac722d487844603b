# Pages until one is empty, then answers with a value and no print.
total = 0.0
page = 0
while items := list_items(page=page):
    total += sum(item["price"] for item in items)
    page += 1
    if page == 2:
        break
{"pages": page, "total": total}
