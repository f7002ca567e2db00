"""The key under which the shop counts its calls."""

#: Apart from the broker's keys.
CALLS = "shop-calls"
