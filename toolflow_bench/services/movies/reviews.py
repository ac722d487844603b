"""Operations of the movies service on the review board: entries, tags, reviews and the members who write them."""

from __future__ import annotations

from toolflow_bench.services.movies import queries as queries
from toolflow_bench.services.movies.links import ENTRY_USES, FILM_USES, REVIEW_USES, REVIEWER_USES, TAG_USES
from toolflow_bench.services.movies.parameters import (
    ENTRY,
    FROM_DATE,
    MEMBER,
    PAGING,
    REVIEW,
    REVIEWER,
    TAG,
    TO_DATE,
    YEAR_FILTER,
)
from toolflow_bench.services.operation import Operation

REVIEW_OPERATIONS = (
    Operation(
        id="get_board_entry",
        tag="reviews",
        path="/board/{board_id}",
        description="A film's entry on the review board: which film it is, and the ids of its tags.",
        parameters=(ENTRY,),
        returns="BoardEntry",
        handler=queries.get_board_entry,
        missing="There is no board entry of this id.",
        links=(("/film_id", FILM_USES), ("/tag_ids/0", TAG_USES)),
    ),
    Operation(
        id="list_tags",
        tag="reviews",
        path="/tags",
        description="The tags that the board files its entries under, by name, such as 'Film-Noir' or 'Western'.",
        returns="Tags",
        handler=queries.list_tags,
        links=(("/tags/0/tag_id", TAG_USES),),
    ),
    Operation(
        id="list_entries_with_tag",
        tag="reviews",
        path="/tags/{tag_id}/entries",
        description="Board entries that have one tag, in pages by year of the film; with a year, those of it alone.",
        parameters=(TAG, YEAR_FILTER, *PAGING),
        returns="TaggedPage",
        handler=queries.list_entries_with_tag,
        missing="There is no tag of this id.",
        links=(("/entries/0/board_id", ENTRY_USES),),
    ),
    Operation(
        id="list_entry_reviews",
        tag="reviews",
        path="/board/{board_id}/reviews",
        description=(
            "Reviews of one board entry, in pages from the oldest, with their writers' ids. Dates limit when they were "
            "written. get_review has the stars."
        ),
        parameters=(ENTRY, FROM_DATE, TO_DATE, *PAGING),
        returns="EntryReviewPage",
        handler=queries.list_entry_reviews,
        missing="There is no board entry of this id.",
        links=(("/reviews/0/review_id", REVIEW_USES), ("/reviews/0/reviewer_id", REVIEWER_USES)),
    ),
    Operation(
        id="get_review",
        tag="reviews",
        path="/reviews/{review_id}",
        description="One review: which entry it is of, who wrote it and when (UTC), and the stars it gives, 0.5 to 5.",
        parameters=(REVIEW,),
        returns="Review",
        handler=queries.get_review,
        missing="There is no review of this id.",
        links=(("/board_id", ENTRY_USES), ("/reviewer_id", REVIEWER_USES)),
    ),
    Operation(
        id="find_reviewer",
        tag="reviewers",
        path="/reviewers",
        description="The id of the reviewer with a membership number. Members are known by number, not by name.",
        parameters=(MEMBER,),
        returns="FoundReviewer",
        handler=queries.find_reviewer,
        missing="No reviewer has this number.",
        links=(("/reviewer_id", REVIEWER_USES),),
    ),
    Operation(
        id="get_reviewer",
        tag="reviewers",
        path="/reviewers/{reviewer_id}",
        description="One reviewer: number of the membership, and the date (UTC) of the first review.",
        parameters=(REVIEWER,),
        returns="Reviewer",
        handler=queries.get_reviewer,
        missing="There is no reviewer of this id.",
    ),
    Operation(
        id="list_reviewer_reviews",
        tag="reviewers",
        path="/reviewers/{reviewer_id}/reviews",
        description=(
            "Reviews that one reviewer wrote, in pages from the oldest, with the board entries they are of. Dates "
            "limit when they were written. get_review has the stars."
        ),
        parameters=(REVIEWER, FROM_DATE, TO_DATE, *PAGING),
        returns="ReviewerReviewPage",
        handler=queries.list_reviewer_reviews,
        missing="There is no reviewer of this id.",
        links=(("/reviews/0/review_id", REVIEW_USES), ("/reviews/0/board_id", ENTRY_USES)),
    ),
)
