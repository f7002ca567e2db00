"""Who may do what: actors, roles, permissions, and how an actor proves who it is."""
