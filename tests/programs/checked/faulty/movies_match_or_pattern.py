# tools: movies
# kind: match statements
# expect: missing-key line 6
match get_film_links(film_id="fm_a2b3c"):
    case {"board_id": str(board_id), "box_office_id": str(box_id)}:
        print(get_board_entry(board_id=board_id)["tags"], box_id)
    case {"board_id": None} | {"box_office_id": None}:
        print("incomplete")
