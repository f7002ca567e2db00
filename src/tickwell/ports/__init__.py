"""Protocols that the engine needs others to fulfil; no implementation."""
