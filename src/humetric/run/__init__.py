"""Runs: what there is to do, how much of it, and doing it."""
