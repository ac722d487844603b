# tools: baseball
# kind: date text used as date object
# expect: no-attribute line 10
from statistics import median


def age_at_debut(player):
    if not player["birth_year"] or not player["debut"]:
        return None
    return player["debut"].year - player["birth_year"]


school = search_schools(query="Stanford")[0]
members = list_school_players(school_id=school["school_id"], page_size=12)["players"]
ages = [age for m in members if (age := age_at_debut(get_player(player_id=m["player_id"]))) is not None]
place = get_school(school_id=school["school_id"])
print(f"{place['name']}, {place['city']}: median debut at {median(ages)} ({len(ages)} players)")
