"""The page of findings: which metric, if any, goes with people's success."""
