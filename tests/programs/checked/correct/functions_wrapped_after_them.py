# tools: flights
# expect: none
class Reg:
    def get_value(cls, path, key):
        return path + key
    get_value = classmethod(get_value)

    def _label(self):
        return "x"
    label = property(_label)

    def shout(self, word):
        return word
    shout = str.upper

class Other:
    def twice(n):
        return 2 * n
    twice = staticmethod(twice)

print(Reg.get_value("a", "b"), Reg().label.upper(), Reg.shout("a"), Other.twice(2), Other().twice(3))
