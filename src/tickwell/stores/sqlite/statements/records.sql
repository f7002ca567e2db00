-- Documents of the service.

-- name: record
-- A record, unless it has expired.
SELECT kind, project, key, document, version, expires_at FROM record
WHERE kind = ?1 AND project = ?2 AND key = ?3 AND (expires_at IS NULL OR expires_at > ?4);

-- name: put_record
-- Write a record as its next version if it has the expected one.
-- Without a record, or when it has expired, that is 0.
INSERT INTO record (kind, project, key, document, version, expires_at)
SELECT ?1, ?2, ?3, ?4, found.version + 1, ?5
FROM (SELECT coalesce((SELECT version FROM record
                       WHERE kind = ?1 AND project = ?2 AND key = ?3
                         AND (expires_at IS NULL OR expires_at > ?6)), 0) AS version) AS found
WHERE ?7 IS NULL OR ?7 = found.version
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, version = excluded.version, expires_at = excluded.expires_at
RETURNING version;

-- name: replace_record
-- Write a record as it is, whatever is there.
INSERT INTO record (kind, project, key, document, version, expires_at)
VALUES (?1, ?2, ?3, ?4, 1, NULL)
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, version = 1, expires_at = NULL;

-- name: list_records
-- Records whose key begins with a prefix, by key.
SELECT kind, project, key, document, version, expires_at FROM record
WHERE kind = ?1 AND project = ?2 AND key >= ?3 AND key < ?4
  AND (expires_at IS NULL OR expires_at > ?5)
ORDER BY key LIMIT ?6;

-- name: delete_record
-- Forget a record.
DELETE FROM record WHERE kind = ?1 AND project = ?2 AND key = ?3;

-- name: put_records
-- Write a record as the next version, whatever is there; one that has expired is not.
INSERT INTO record (kind, project, key, document, version, expires_at)
VALUES (?2, ?3, ?4, ?5, 1, ?6)
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, expires_at = excluded.expires_at,
    version = CASE WHEN expires_at <= ?1 THEN 1 ELSE version + 1 END;
