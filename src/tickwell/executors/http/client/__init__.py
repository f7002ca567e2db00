"""The HTTP client: connections, per-host limits, circuit breakers and deadlines."""
