-- flags: no-writes
-- needs: words json rows left_out
-- Jobs to be looked at, oldest first, behind whether there may be more. ARGV: end, limit, jobs to
-- leave out, whether projects take turns.
local ROW = '["%s",[%d,%d,%d,%d,%d,%d,%s,%s,%s,%d]]'
local limit, jobs, round_robin = tonumber(ARGV[3]), cjson.decode(ARGV[4]), ARGV[5] == '1'
local left_out, due = set_of(jobs), {}

local function add(key, part)
  local found = redis.call('ZRANGE', P .. key, '-inf', ARGV[2], 'BYSCORE', 'LIMIT', 0, part + #jobs)
  read('cursor', found, entries)
  local before = #due
  for _, id in ipairs(found) do
    if #due - before < part and not left_out[id] then
      local entry = entries[id]
      due[#due + 1] = string.format(ROW, id, entry[J_MOVES], entry[J_STATE], entry[J_NEXT],
        entry[J_AFTER], entry[J_RUNS], entry[J_FAILURES], text(entry[J_NUDGED]),
        text(entry[J_THROUGH]), text(entry[J_PAUSE]), entry[J_VERSION])
    end
  end
  return #due - before == part
end

-- One step along the list of all jobs for each project.
local function due_projects()
  local found, from = {}, '-'
  while #found < limit do
    local job = redis.call('ZRANGE', P .. 'jobs', from, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
    if not job then
      break
    end
    local project = string.match(job, '^%Z*')
    local first = redis.call('ZRANGE', P .. 'fire:' .. project, 0, 0, 'WITHSCORES')
    if first[2] and tonumber(first[2]) <= tonumber(ARGV[2]) then
      found[#found + 1] = project
    end
    from = '(' .. project .. '\1'
  end
  return found
end

local more = false
if round_robin then
  local projects = due_projects()
  for _, project in ipairs(projects) do
    more = add('fire:' .. project, math.floor(limit / #projects)) or more
  end
else
  more = add('fire', limit)
end
table.insert(due, 1, more and '1' or '0')
return array(due)
