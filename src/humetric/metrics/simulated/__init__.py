"""Simulated users: the protocols of human studies with a program in the person's place.

They are programs, not people, and nothing here was fitted to what people did: every parameter comes
from the study that a protocol is taken from, or was fixed before the first comparison with people
(docs/adr/0013). Each module holds one protocol; its docstring says what the reader sees, what it
can do and what it cannot.

Rules that keep them honest, each with a test that can fail:

- learning and test cases are disjoint: learning cases are the first of a setting's panel, and only
  these are ever explained;
- a reader gets arrays: what is in a case, what was highlighted, what the model said of learning
  cases. It does not get the method's name, nor at test what the model says (where the study's
  people saw the model's confidence, in the edit attack, it sees what they saw);
- with no explanation, or with a uniform one, a gain is 0, and with shuffled ones it is 0 on
  average: both are computed beside every value and stored with it as controls. Metrics that are
  levels and not gains (edit attack, span guess, two-model choice) are read against these;
- half of what people must predict is such that knowing the truth does not help, where the model
  errs often enough for that.
"""
