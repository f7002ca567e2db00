"""The executor of `Http`: one guarded client for everything that goes out."""
