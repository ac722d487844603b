# tools: baseball
# kind: try/except/else
# expect: missing-key line 13
for season in list_player_seasons(player_id="pl_a2b3c"):
    try:
        line = get_pitching_line(player_id="pl_a2b3c", team_id=season["team_id"])
    except ToolError as error:
        if error.status != 404:
            raise
        continue
    finally:
        print(season["season"])
    print(line["innings"])
