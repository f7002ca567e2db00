-- Documents of the service.

-- name: record
-- A record, unless it has expired.
SELECT kind, project, key, document, version, expires_at FROM tickwell.record
WHERE kind = $1 AND project = $2 AND key = $3 AND (expires_at IS NULL OR expires_at > $4);

-- name: put_record
-- Write a record as the next version, if the stored version is the expected one; a record that has
-- expired does not exist.
INSERT INTO tickwell.record AS known (kind, project, key, document, version, expires_at)
SELECT $1, $2, $3, $4, 1, $5 WHERE coalesce($7::bigint, 0) = 0
    OR EXISTS (SELECT 1 FROM tickwell.record AS old
               WHERE old.kind = $1 AND old.project = $2 AND old.key = $3)
ON CONFLICT (kind, project, key) DO UPDATE SET
    document = excluded.document, expires_at = excluded.expires_at,
    version = CASE WHEN known.expires_at <= $6 THEN 1 ELSE known.version + 1 END
WHERE $7::bigint IS NULL
   OR $7::bigint = CASE WHEN known.expires_at <= $6 THEN 0 ELSE known.version END
RETURNING version;

-- name: replace_record
-- Write a record as it is, whatever is there.
INSERT INTO tickwell.record (kind, project, key, document, version, expires_at)
VALUES ($1, $2, $3, $4, 1, NULL)
ON CONFLICT (kind, project, key) DO UPDATE
SET document = excluded.document, version = excluded.version, expires_at = excluded.expires_at;

-- name: list_records
-- Records whose key begins with a prefix, by key.
SELECT kind, project, key, document, version, expires_at FROM tickwell.record
WHERE kind = $1 AND project = $2 AND key >= $3 AND key < $4
  AND (expires_at IS NULL OR expires_at > $5)
ORDER BY key LIMIT $6;

-- name: delete_record
-- Forget a record.
DELETE FROM tickwell.record WHERE kind = $1 AND project = $2 AND key = $3;

-- name: put_records
-- Write records as their next versions, whatever is there; what has expired is not.
INSERT INTO tickwell.record AS known (kind, project, key, document, version, expires_at)
SELECT kind, project, key, document, 1, expires_at
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
     AS new (kind, project, key, document, expires_at)
ON CONFLICT (kind, project, key) DO UPDATE SET
    document = excluded.document, expires_at = excluded.expires_at,
    version = CASE WHEN known.expires_at <= $1 THEN 1 ELSE known.version + 1 END;
