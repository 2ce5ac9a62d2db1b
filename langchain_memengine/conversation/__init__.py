"""Conversations: what of them is kept, what is archived, and what is carried on."""
