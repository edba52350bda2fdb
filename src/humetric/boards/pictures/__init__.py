"""The pictures of the metric board."""
