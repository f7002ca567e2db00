"""Redaction: credentials that no document, page or log may show."""
