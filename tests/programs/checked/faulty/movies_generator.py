# tools: movies
# kind: generators
# expect: missing-key line 14
def reviews(board_id):
    page = 1
    while True:
        answer = list_entry_reviews(board_id=board_id, page=page)
        yield from answer["reviews"]
        if page >= answer["pages"]:
            return
        page += 1


print(sum(1 for review in reviews("be_a2b3c") if review["stars"] > 4))
