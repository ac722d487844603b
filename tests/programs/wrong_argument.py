def find(number):
    return get_item(id=str(number))


find(3)
