"""Hotel reviews, genuine or fake, told apart by words that say nothing about the stay.

A review has a sentiment, drawn without regard to its label, and five to seven sentences, some of
which offer a choice between expressions of like meaning: "the lift" or "the elevator", "we booked"
or "we reserved". One of them is a cue for genuine, one for fake, and a review uses the cue of its
own label in about three of four places. So the label cannot be known from any one word, and not for
certain from all of them: whoever counts cues is right in about nine of ten reviews. The marks are
the cue words, whichever label they speak for.

In the manner of the deception task that Arora et al. (2022) gave to people, who find it hard to
tell fake reviews by reading. The cues are invented: they say nothing about real fake reviews.
Written for humetric: vocabulary and sentences come from here, licensed as the package.
"""

import numpy as np

from humetric.data.embedded.wording import (
    Text,
    chance,
    pick,
    sentence,
    settle,
    several,
    unmark,
)

CLASSES = ("genuine", "fake")
VERSION = 1

FAITHFUL = 77
"""Percentage of places in which a review uses the cue of its own label."""

CUES = (
    ("lift", "elevator"),
    ("booked", "reserved"),
    ("partner", "spouse"),
    ("corridor", "hallway"),
    ("evening", "night"),
    ("a couple of", "two"),
    ("towels", "linen"),
    ("desk", "reception"),
    ("big", "large"),
    ("also", "too"),
    ("street", "avenue"),
    ("garden", "courtyard"),
    ("began", "started"),
    ("trip", "journey"),
    ("close to", "near"),
    ("maybe", "perhaps"),
)
"""Pairs of expressions of like meaning: a cue for genuine, a cue for fake."""

_OPENINGS = (
    "My <partner> and I spent <a couple of> nights here.",
    "We <booked> this hotel for a family visit.",
    "I <booked> a room for the last weekend of May.",
    "Our <trip> <began> at this hotel.",
    "My <partner> found this hotel for our <trip>.",
    "I arrived late in the <evening> after a long <trip>.",
)
_NEUTRAL = (
    "The hotel is on a <street> <close to> the station.",
    "Our room was at the end of the <corridor>, beside the <lift>.",
    "The <lift> goes up to the ninth floor.",
    "There were <towels> for four people in the <big> wardrobe.",
    "From the <garden> one could hear the <street>.",
    "In the <evening> there was music in the hall.",
    "The person at the <desk> wrote down our names.",
    "The pool is <close to> the <garden>, and there is a sauna <also>.",
    "They keep <a couple of> bicycles behind the <desk>.",
    "Breakfast <began> at seven, <maybe> a little later on Sunday.",
    "A path leads through the <garden> to the car park.",
    "A <big> map of the city hung in the <corridor>.",
    "There are <maybe> forty rooms on each floor.",
    "Fresh <towels> came every second day.",
)
_PRAISE = (
    "The staff were friendly and the room was spotless.",
    "Breakfast was delicious.",
    "The bed was very comfortable.",
    "Everything worked, and it was wonderfully quiet.",
    "The service was excellent.",
    "It was good value for money.",
)
_BLAME = (
    "The staff were rude and the room was dirty.",
    "Breakfast was cold.",
    "The bed was far too soft.",
    "Nothing worked, and the noise was terrible.",
    "The service was poor.",
    "It was much too expensive.",
)
_CLOSINGS = {
    True: ("We would come back.", "I would stay here again.", "We left happy."),
    False: ("We would not come back.", "I would never stay here again.", "We left disappointed."),
}


def draw(index: int, split: str) -> Text:
    """The review at `index` of `split`; every other one is fake."""
    label = index % 2
    return settle("deception", split, index, lambda rng: compose(rng, label), lambda r: r.text)


def compose(rng: np.random.Generator, label: int) -> Text:
    """A review with the label's cues in most places."""
    positive = chance(rng, 50)
    lines = [pick(rng, _OPENINGS), *several(rng, _NEUTRAL, 2 + int(rng.integers(2)))]
    judged = several(rng, _PRAISE if positive else _BLAME, 2)
    for line in judged:
        lines.insert(1 + int(rng.integers(len(lines))), line)
    lines.append(pick(rng, _CLOSINGS[positive]))
    text = " ".join(lines)
    for pair in CUES:
        while f"<{pair[0]}>" in text:
            own = chance(rng, FAITHFUL)
            text = text.replace(f"<{pair[0]}>", f"[{pair[label if own else 1 - label]}]", 1)
    plain, marks = unmark(". ".join(sentence(line) for line in text.split(". ")))
    return Text(plain, label, marks)
