"""Find memories again: indexes, fusion, search and recall."""
