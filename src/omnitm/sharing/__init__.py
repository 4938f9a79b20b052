"""Word vectors for others: in files that other tools read, on a model hub, and as sentence vectors."""
