"""The log of a service: one format for its own events, its libraries and its handlers."""
