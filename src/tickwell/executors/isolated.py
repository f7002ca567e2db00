"""Names that both sides of an isolated handler know."""

CHILD_NAME = "tickwell-child"
