# tools: places
# kind: classes
# expect: no-attribute line 13
class Map:
    def __init__(self):
        self.cities = []

    def add(self, name):
        self.cities += search_cities(query=name)


places = Map()
places.append("Rome")
print(len(places.cities))
