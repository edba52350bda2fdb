"""Words of the embedded inference set, with what follows from them and what they exclude.

Nouns come in families whose name is the hypernym: every farmer is a person. Members of a family
exclude each other, as do the verbs and the places of different groups, and an adjective and its
opposite. Within a list the commoner words come first.
"""

from humetric.data.embedded.wording import words

PEOPLE = words(
    "farmer nurse cook sailor teacher doctor singer waiter painter baker tailor pilot judge "
    "plumber jeweller cobbler"
)
ANIMALS = words("dog cat horse goat rabbit donkey parrot hedgehog otter badger")
FAMILIES: dict[str, tuple[str, ...]] = {
    "person": PEOPLE,
    "animal": ANIMALS,
    "instrument": words("guitar violin flute drum trumpet banjo bassoon"),
    "fruit": words("apple pear banana plum cherry quince"),
    "flower": words("rose tulip daisy lily orchid peony"),
    "vehicle": words("car bicycle bus lorry tractor tram"),
    "tool": words("hammer saw shovel ladder chisel"),
    "garment": words("coat shirt scarf jacket cardigan"),
}
HYPERNYM = {noun: family for family, nouns in FAMILIES.items() for noun in nouns}

ACTIONS: dict[str, tuple[str, ...]] = {
    "playing": ("instrument",),
    "eating": ("fruit",),
    "picking": ("flower", "fruit"),
    "repairing": ("vehicle", "tool", "garment", "instrument"),
    "washing": ("vehicle", "garment", "fruit"),
    "selling": ("fruit", "flower", "vehicle", "garment", "tool"),
    "holding": ("tool", "flower", "instrument", "garment"),
    "buying": ("vehicle", "garment", "instrument", "fruit"),
}
"""What people do to things of which families."""

MOVES = words("running walking dancing jumping climbing")
RESTS = words("sleeping sitting resting kneeling")
"""What people and animals do; whoever runs moves, and nobody rests and moves at once."""

OUTDOORS = words(
    "in the park|in the garden|on the beach|in the street|in the forest|on the hill|in the meadow"
)
INDOORS = words(
    "in the kitchen|in the hall|in the library|in the cellar|in the museum|in the attic"
)

OPPOSITE = {
    "young": "old",
    "tall": "short",
    "happy": "sad",
    "rich": "poor",
    "quiet": "noisy",
    "tired": "lively",
    "slim": "stout",
}
OPPOSITE |= {second: first for first, second in OPPOSITE.items()}
ADJECTIVES = list(OPPOSITE)


def plural(noun: str) -> str:
    """More than one of a noun."""
    if noun == "person":
        return "people"
    if noun.endswith(("y", "lly")) and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")
