def name_of(number):
    try:
        return get_item(id=number)["name"]
    except ToolError as error:
        return f"{error.status}: {error.body}"


for number in (7, -1):
    print(name_of(number))
