"""Embedding models: local ones, providers, and the wrapper that checks them."""
