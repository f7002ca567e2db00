-- flags: allow-oom
-- needs: words json rows indexes flow left_out
-- ARGV: now, horizon, limit, jobs to leave out, whether the caller can read all jobs of what has
-- expired. Answers how many expired, how many were looked at, and how many of those are queued,
-- blocked and skipped now, then what ended at their gates; or the jobs to be read first, each with
-- its version.
local now, horizon, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local left_out = set_of(cjson.decode(ARGV[5]))
local expired = first_rows('expiry', now, limit, left_out)
if #expired > 0 and ARGV[6] == '0' then
  local jobs, seen = {}, {}
  for _, id in ipairs(expired) do
    local job = rows[id][JOB]
    if not seen[job] then
      seen[job] = true
      jobs[#jobs + 1] = list({ job, entry_of(job)[J_VERSION] })
    end
  end
  return array({ array(jobs) })
end
for _, id in ipairs(expired) do
  conclude(id, rows[id], SKIPPED, 'expired', now)
end
flush()
ended = {}
local due = first_rows('due', now + horizon, limit, left_out)
for _, id in ipairs(due) do
  -- One that is looked at earlier may have cancelled it, or passed its permit on to it.
  if rows[id][STATE] == WAITING then
    admit(id, rows[id], now, horizon)
  end
end
flush()
local counted = { [QUEUED] = 0, [BLOCKED] = 0, [SKIPPED] = 0 }
for _, id in ipairs(due) do
  local state = rows[id][STATE]
  counted[state] = (counted[state] or 0) + 1
end
local counts = list({ #expired, #due, counted[QUEUED], counted[BLOCKED], counted[SKIPPED] })
return array({ counts, pairs_of(ended) })
