"""Records that the API reads and answers, by noun."""
