"""Published human experiments: what people achieved with explanations, and where it is printed."""
