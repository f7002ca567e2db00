"""Webhooks: what to send, where, and what is refused before anything is saved."""

from __future__ import annotations

from tickwell.domain.http.auth import Auth, Basic, Bearer, OAuth
from tickwell.domain.http.json_value import Json
from tickwell.domain.http.target import Http

__all__ = ["Auth", "Basic", "Bearer", "Http", "Json", "OAuth"]
