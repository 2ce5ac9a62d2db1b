"""Entities and relations learnt from memories."""
