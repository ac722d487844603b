# tools: baseball
# expect: none
wanted, page = "Cooperstown", 1
schools = search_schools(query="university")
index = 0
while index < len(schools):
    school = get_school(school_id=schools[index]["school_id"])
    if school["city"] == wanted:
        print(school["name"])
        break
    index += 1
else:
    print("none of", len(schools))
for letter, name in zip("abc", (s["name"] for s in schools)):
    print(f"{letter}) {name:.30}")
