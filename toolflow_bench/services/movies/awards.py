"""Operations of the movies service on the Academy Awards for leading roles, their winners and where those were born."""

from __future__ import annotations

from toolflow_bench.services.movies import queries as queries
from toolflow_bench.services.movies.links import AWARD_USES, FILM_USES, PERSON_USES, PLACE_USES
from toolflow_bench.services.movies.parameters import AWARD, CEREMONY_YEAR, FILM, NAME, PERSON, PLACE
from toolflow_bench.services.operation import Operation

AWARD_OPERATIONS = (
    Operation(
        id="list_ceremony_awards",
        tag="awards",
        path="/ceremonies/{ceremony_year}/awards",
        description=(
            "The Academy Awards for best actor and best actress in a leading role of one year's ceremony: usually two, "
            "three where one was shared. Other categories are not held here."
        ),
        parameters=(CEREMONY_YEAR,),
        returns="Awards",
        handler=queries.list_ceremony_awards,
        links=(("/awards/0/award_id", AWARD_USES),),
    ),
    Operation(
        id="get_award",
        tag="awards",
        path="/awards/{award_id}",
        description="One award: ceremony, category, who won it with which film, and how old the winner was.",
        parameters=(AWARD,),
        returns="Award",
        handler=queries.get_award,
        missing="There is no award of this id.",
        links=(("/person_id", PERSON_USES), ("/film_id", FILM_USES)),
    ),
    Operation(
        id="list_film_awards",
        tag="awards",
        path="/films/{film_id}/awards",
        description="Ids of the awards for leading roles that were won with one film; mostly none.",
        parameters=(FILM,),
        returns="AwardIds",
        handler=queries.list_film_awards,
        missing="There is no film of this id.",
        links=(("/award_ids/0", AWARD_USES),),
    ),
    Operation(
        id="list_person_awards",
        tag="people",
        path="/people/{person_id}/awards",
        description="Ids of the awards for leading roles that one person won, oldest first.",
        parameters=(PERSON,),
        returns="AwardIds",
        handler=queries.list_person_awards,
        missing="There is no person of this id.",
        links=(("/award_ids/0", AWARD_USES),),
    ),
    Operation(
        id="search_people",
        tag="people",
        path="/people",
        description="Find winners of awards for leading roles by name or whole words of it, in order of name.",
        parameters=(NAME,),
        returns="FoundPeople",
        handler=queries.search_people,
        links=(("/people/0/person_id", PERSON_USES),),
    ),
    Operation(
        id="get_person",
        tag="people",
        path="/people/{person_id}",
        description="One person: name, date and place of birth. The place is an id; list_birthplaces has its name.",
        parameters=(PERSON,),
        returns="Person",
        handler=queries.get_person,
        missing="There is no person of this id.",
        links=(("/place_id", PLACE_USES),),
    ),
    Operation(
        id="list_birthplaces",
        tag="people",
        path="/birthplaces",
        description="The places that winners were born in, by name: states of the USA, or other countries.",
        returns="Places",
        handler=queries.list_birthplaces,
        links=(("/places/0/place_id", PLACE_USES),),
    ),
    Operation(
        id="list_people_born_in",
        tag="people",
        path="/birthplaces/{place_id}/people",
        description="Ids of the winners who were born in one place.",
        parameters=(PLACE,),
        returns="PersonIds",
        handler=queries.list_people_born_in,
        missing="There is no place of this id.",
        links=(("/person_ids/0", PERSON_USES),),
    ),
)
