"""Where requests may go: names, addresses and the guard against request forgery."""
