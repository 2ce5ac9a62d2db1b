"""The `memengine` command."""
