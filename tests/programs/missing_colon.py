rows = list_items(page=0)
for row in rows
    print(row)
