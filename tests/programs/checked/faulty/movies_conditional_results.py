# tools: movies
# kind: conditional expressions
# expect: missing-key line 6
wanted = "box"
answer = get_box_office(box_office_id="bo_a2b3c") if wanted == "box" else get_film_budget(film_id="fm_a2b3c")
print(answer["film_id"], answer["gross"])
