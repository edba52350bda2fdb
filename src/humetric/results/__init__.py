"""Results: what a run leaves behind."""
