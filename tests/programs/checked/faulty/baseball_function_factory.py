# tools: baseball
# kind: nested functions and closures
# expect: missing-key line 13
def reader(player_id):
    player = get_player(player_id=player_id)

    def read():
        return player

    return read


print(reader("pl_a2b3c")()["full_name"])
