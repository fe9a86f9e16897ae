"""Where a turn comes from."""
