"""Use cases shared by every face."""
