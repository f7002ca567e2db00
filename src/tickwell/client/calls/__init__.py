"""One function for each operation of the API: its arguments as a request."""
