-- Documents of the service.

-- name: record
-- A record, unless it has expired.
SELECT kind, project, key, document, version, expires_at FROM record
WHERE kind = ? AND project = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?);

-- name: replace_record
-- Write a record, whatever is there.
INSERT INTO record (kind, project, key, document, version, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, version = excluded.version, expires_at = excluded.expires_at;

-- name: list_records
-- Records whose key begins with a prefix, by key.
SELECT kind, project, key, document, version, expires_at FROM record
WHERE kind = ? AND project = ? AND key >= ? AND key < ? AND (expires_at IS NULL OR expires_at > ?)
ORDER BY key LIMIT ?;

-- name: delete_record
-- Forget a record.
DELETE FROM record WHERE kind = ? AND project = ? AND key = ?;

-- name: put_records
-- Write a record as the next version, whatever is there; one that has expired is not.
INSERT INTO record (kind, project, key, document, version, expires_at) VALUES (?, ?, ?, ?, 1, ?)
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, expires_at = excluded.expires_at,
    version = CASE WHEN expires_at <= ? THEN 1 ELSE version + 1 END;
