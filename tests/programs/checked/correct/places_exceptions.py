# tools: places
# expect: none
class NotFound(Exception):
    def __init__(self, name):
        super().__init__(f"no city {name}")
        self.name = name


def city(name):
    found = search_cities(query=name, limit=1)
    if not found:
        raise NotFound(name)
    return get_city(city_id=found[0]["city_id"])


for name in ("Paris", "Nowhere"):
    try:
        here = city(name)
    except NotFound as error:
        print(error.name, error)
        continue
    except (ToolError, KeyError) as error:
        print(getattr(error, "status", None), error.args)
        break
    else:
        print(here["name"], round(here["latitude"], 2))
    finally:
        print("done", name)
