-- Documents of the service.

-- name: record
-- A record, unless it has expired.
SELECT kind, project, name, document, version, expires_at FROM tickwell_record
WHERE kind = $1 AND project = $2 AND name = $3 AND (expires_at IS NULL OR expires_at > $4);

-- name: lock_record
-- The version of a record, which stays as it is until the transaction ends; 0: it has expired.
SELECT CASE WHEN expires_at <= $4 THEN 0 ELSE version END FROM tickwell_record
WHERE kind = $1 AND project = $2 AND name = $3 FOR UPDATE;

-- name: insert_record
-- A new record; one that somebody else makes at the same time is an error.
INSERT INTO tickwell_record (kind, project, name, document, version, expires_at)
VALUES ($1, $2, $3, $4, $5, $6);

-- name: update_record
-- The next version of a record that is locked.
UPDATE tickwell_record SET document = $4, version = $5, expires_at = $6
WHERE kind = $1 AND project = $2 AND name = $3;

-- name: replace_record
-- Write a record as it is, whatever is there.
INSERT INTO tickwell_record (kind, project, name, document, version, expires_at)
VALUES ($1, $2, $3, $4, 1, NULL)
ON DUPLICATE KEY UPDATE document = $4, version = 1, expires_at = NULL;

-- name: list_records
-- Records whose key begins with a prefix, by key.
SELECT kind, project, name, document, version, expires_at FROM tickwell_record
WHERE kind = $1 AND project = $2 AND name >= $3 AND name < $4
  AND (expires_at IS NULL OR expires_at > $5)
ORDER BY name LIMIT $6;

-- name: delete_record
-- Forget a record.
DELETE FROM tickwell_record WHERE kind = $1 AND project = $2 AND name = $3;

-- name: put_records
-- Write records as their next versions, whatever is there; what has expired is not.
INSERT INTO tickwell_record (kind, project, name, document, version, expires_at)
SELECT kind, project, name, document, 1, expires_at
FROM ROWS($2, kind NAME, project NAME, name NAME, document TEXT, expires_at INT) AS new
ON DUPLICATE KEY UPDATE
    document = new.document,
    version = CASE WHEN tickwell_record.expires_at <= $1 THEN 1
                   ELSE tickwell_record.version + 1 END,
    expires_at = new.expires_at;
