"""Where a chain begins after retention has taken its oldest blocks away."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from tickwell.ports.records import Record
from tickwell.services.audit.block import GENESIS
from tickwell.services.audit.entry import canonical
from tickwell.services.keyring import Keyring

KIND = "audit_checkpoint"
KEY = "start"
_PURPOSE = "audit checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last block that is gone. Sealed: blocks that are deleted by hand are still missed."""

    number: int = 0
    hash: str = GENESIS
    #: Entries that are gone, with all earlier ones.
    entries: int = 0
    #: The version of the record that it was read from: of two prunings at once one writes.
    version: int = 0

    def record(self, keyring: Keyring, project: str) -> Record:
        """As it is stored."""
        key = keyring.current
        document = {
            "number": self.number,
            "hash": self.hash,
            "entries": self.entries,
            "key": key.id,
            "seal": self._seal(key.derive(_PURPOSE), project),
        }
        return Record(kind=KIND, project=project, key=KEY, document=document)

    def problem(self, keyring: Keyring, project: str, record: Record) -> str | None:
        """What is wrong with the record that it was read from; None: nothing."""
        key = keyring.find(record.document["key"])
        if key is None:
            id = record.document["key"]
            return f"the checkpoint is made with the server key {id}, which is not known here"
        wanted = self._seal(key.derive(_PURPOSE), project)
        if not hmac.compare_digest(wanted, record.document["seal"]):
            return "the checkpoint was changed"
        return None

    def _seal(self, key: bytes, project: str) -> str:
        message = canonical([project, self.number, self.hash, self.entries]).encode()
        return hmac.digest(key, message, "sha256").hex()


def read_checkpoint(record: Record) -> Checkpoint:
    """The checkpoint in a record."""
    document = record.document
    return Checkpoint(
        number=document["number"],
        hash=document["hash"],
        entries=document["entries"],
        version=record.version,
    )
