"""Projects, their default retention, and the project of the platform."""
