"""Statistics: pure functions on arrays. Randomness is an argument."""
