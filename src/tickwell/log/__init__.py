"""What Tickwell logs: each event's name, level, fields and sentence, and where they go."""
