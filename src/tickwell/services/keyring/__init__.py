"""The server's own keys: what everything that must stay secret is derived from."""

from tickwell.services.keyring.keyring import Keyring, ServerKey

__all__ = ["Keyring", "ServerKey"]
