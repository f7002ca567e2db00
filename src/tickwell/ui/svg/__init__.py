"""Charts, drawn on the server: they need no script, and a reader can have them in words."""
