"""The Markdown files on disk."""
