"""Conversations: what is kept of them, and how memory follows their branches."""
