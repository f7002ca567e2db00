"""`tickwell serve`: the service and what it says when it starts."""
