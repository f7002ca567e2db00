"""A block of the chain: entries that were written together, bound to the block before."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tickwell.ports.records import Record
from tickwell.services.audit.entry import Entry, canonical
from tickwell.services.keyring import Keyring

KIND = "audit"
#: What the first block is bound to.
GENESIS = "0" * 64
#: Entries of one block.
MOST = 64


class Link(Protocol):
    """What a block is bound to: the one before it, or the checkpoint that stands for it."""

    @property
    def number(self) -> int:
        """Its place in the chain."""
        ...

    @property
    def hash(self) -> str:
        """What the next block repeats."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Numbered from 1 without a gap, so that the second writer learns it from the key."""

    number: int
    previous: str
    #: The server key that the hash is made with: who can write rows cannot make a chain.
    key: str
    entries: list[dict[str, Any]]
    hash: str

    def record(self, project: str) -> Record:
        """As it is stored."""
        document = {
            "previous": self.previous,
            "key": self.key,
            "entries": self.entries,
            "hash": self.hash,
        }
        return Record(kind=KIND, project=project, key=key_of(self.number), document=document)


def key_of(number: int) -> str:
    """Keys sort as numbers do."""
    return f"{number:010}"


def read_block(record: Record) -> Block:
    """The block in a record."""
    document = record.document
    return Block(
        number=int(record.key),
        previous=document["previous"],
        key=document["key"],
        entries=document["entries"],
        hash=document["hash"],
    )


def next_block(keyring: Keyring, project: str, last: Link, entries: Sequence[Entry]) -> Block:
    """The block that follows."""
    number, previous = last.number + 1, last.hash
    documents = [entry.document() for entry in entries]
    key = keyring.current
    return Block(
        number=number,
        previous=previous,
        key=key.id,
        entries=documents,
        hash=_hash(key.derive("audit"), project, number, previous, documents),
    )


def problem_of(keyring: Keyring, project: str, last: Link, block: Block) -> str | None:
    """What is wrong with a block that is to follow another; None: nothing."""
    number, previous = last.number + 1, last.hash
    if block.number != number:
        return f"block {number} is missing"
    if block.previous != previous:
        return f"block {number} does not follow the one before it"
    key = keyring.find(block.key)
    if key is None:
        return f"block {number} is made with the server key {block.key}, which is not known here"
    wanted = _hash(key.derive("audit"), project, number, previous, block.entries)
    if not hmac.compare_digest(wanted, block.hash):
        return f"block {number} was changed"
    return None


def _hash(
    key: bytes, project: str, number: int, previous: str, entries: list[dict[str, Any]]
) -> str:
    message = canonical([project, number, previous, entries]).encode()
    return hmac.digest(key, message, "sha256").hex()
