"""What is administered, as documents of the API."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tickwell.services.access.key import ApiKey
from tickwell.services.audit.entry import Entry
from tickwell.services.callbacks.callback import Callback
from tickwell.services.documents import instant_text
from tickwell.services.redaction.masking import masked_url
from tickwell.services.secrets.secret import SecretInfo


def key_document(key: ApiKey, used: int | None) -> dict[str, Any]:
    """A key without its secret, and when it was last used."""
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role.value,
        "permissions": sorted(key.permissions),
        "created_at": instant_text(key.created_at),
        "created_by": key.created_by,
        "expires_at": None if key.expires_at is None else instant_text(key.expires_at),
        "replaces": key.replaces,
        "last_used_at": None if used is None else instant_text(used),
    }


def callback_document(callback: Callback) -> dict[str, Any]:
    """Whom to tell, and of what."""
    return {
        "id": callback.id,
        "url": masked_url(callback.url),
        "events": sorted(callback.events),
        "job_id": callback.job,
        "created_at": instant_text(callback.created_at),
        "created_by": callback.created_by,
    }


def secret_document(info: SecretInfo) -> dict[str, Any]:
    """What may be known of a secret."""
    return {
        "name": info.name,
        "version": info.version,
        "saved_at": instant_text(info.saved_at),
        "by": info.by,
        "hosts": [*info.hosts],
    }


def entry_document(entry: Entry) -> dict[str, Any]:
    """An entry of an audit log."""
    return asdict(entry) | {
        "at": instant_text(entry.at),
        "before": None if entry.before is None else json.loads(entry.before),
        "after": None if entry.after is None else json.loads(entry.after),
        # Of what is done on this machine there is neither.
        "address": entry.address or None,
        "request_id": entry.request_id or None,
    }
