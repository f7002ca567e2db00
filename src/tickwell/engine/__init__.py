"""The loops that move time; they decide nothing themselves."""
