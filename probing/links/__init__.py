"""Which arguments take values of which responses: observed, not guessed (paper, §4.2).

The rule. Values are compared by their text. The places of one name that hold values of one look are one *source*: all
`player_id`s, from whichever tools. An argument takes from a source when it accepted a value that the source holds, and

- its name is that of the source (`airport` and `airports[].code`, `from_place_id` and `place_id`), or a reply or its
  description speaks of it, and it did not refuse as many of its values as it accepted; or
- whatever the names, the values are ids or codes, not counts, dates or words, the argument does not take what was made
  up, and two values that were taken from the source itself were accepted, or one where another value of the same look
  was refused, or most of the source's values are known to belong to what the argument takes.

What an argument of one tool takes, arguments of the same name take in other tools, unless they refused it. Where an
argument that is named for a thing (`airport`) takes from a source of another name (`destination`), that source holds
such things, and what takes from it takes the thing's ids from anywhere. Then every place of the source is a link: a
list that shows other players than those tried yields ids all the same. Values that only repeat an argument of their own
call are no source, nor are pages, searches, dates and lists of choices.
"""

from probing.links.observed import Elsewhere, ObservedLink, observed_links
from probing.links.trials import LinkTest, link_tests

__all__ = ["Elsewhere", "LinkTest", "ObservedLink", "link_tests", "observed_links"]
