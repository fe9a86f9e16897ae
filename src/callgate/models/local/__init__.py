"""The embedded model."""
