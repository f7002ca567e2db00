"""The dashboard: pages over the same operations and permissions as the API."""
