"""The index of published boards: what was found, on two screens, and what it took."""
