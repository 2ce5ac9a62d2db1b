"""What agents learn: experiences."""
