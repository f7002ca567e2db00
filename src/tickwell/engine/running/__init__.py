"""Running: start attempts on time, enforce their timeouts, and report their outcomes."""
