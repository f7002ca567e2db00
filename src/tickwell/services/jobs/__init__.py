"""Jobs: added, changed, paused, deleted, and what is checked before one is saved."""
