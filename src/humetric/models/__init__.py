"""Reference architectures, their training recipes and where weights come from."""
