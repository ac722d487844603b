for number in (999, 1000):
    print(get_item(id=number)["name"])
