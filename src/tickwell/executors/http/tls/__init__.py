"""TLS with receivers: handshakes and client certificates."""
