-- flags: no-writes
-- needs: words json rows history
-- ARGV: project, id. The execution and its attempts.
local row = row_of(ARGV[3])
if not row or row[PROJECT] ~= ARGV[2] then
  return false
end
local attempts = {}
for n, attempt in ipairs(row[ATTEMPTS] or {}) do
  if n == #row[ATTEMPTS] then
    attempt[A_RESULT] = row[RESULT] -- which is that of the last one
  end
  attempt[A_RESULT] = attempt[A_RESULT] or false
  attempts[n] = list(attempt)
end
return { execution_text(ARGV[3], row), array(attempts) }
