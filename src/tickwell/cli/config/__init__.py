"""The settings of a command, and what follows from them."""
