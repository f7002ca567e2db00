"""What the API and the dashboard share: access, cookies, JSON bodies, errors over HTTP."""
