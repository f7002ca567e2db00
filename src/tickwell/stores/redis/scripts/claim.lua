-- flags: allow-oom
-- needs: words json rows claims lanes left_out
-- ARGV: worker, claim id, now, lead, limit, is repeated, queues, abilities, ids or false,
-- jobs to leave out, most bytes of payloads.
local worker, claim_id, now = ARGV[2], ARGV[3], tonumber(ARGV[4])
local due, limit = now + tonumber(ARGV[5]), tonumber(ARGV[6])
if not is_alive(worker) then
  return '[]'
end
if ARGV[7] == '1' then
  local mine, held = redis.call('ZRANGE', P .. 'own:' .. worker, 0, -1), {}
  fetch(mine)
  table.sort(mine)
  for _, id in ipairs(mine) do
    if rows[id][CLAIM] == claim_id then
      held[#held + 1] = id
    end
  end
  if #held > 0 then
    return claims_of(held)
  end
end

local queues, abilities = cjson.decode(ARGV[8]), set_of(cjson.decode(ARGV[9]))
local ids, left_out = cjson.decode(ARGV[10]), set_of(cjson.decode(ARGV[11]))
local most = tonumber(ARGV[12])
-- Rows that are read at once: of large ones no more than that for nothing.
local AT_ONCE = 100

local written_worker, written_claim, own = text(worker), text(claim_id), 'own:' .. worker

local function hand_over(id, row, lane)
  mark(lane, id, false)
  if row[RUN_AT] > now then
    mark('ahead:' .. string.sub(lane, 6), id, false)
  end
  mark('state:2:' .. row[PROJECT], id, false)
  mark('state:3:' .. row[PROJECT], id, 0)
  if row[EXPIRES] then
    mark('expiry', id, false)
  end
  row[STATE], row[ATTEMPT], row[CHARGED] = RUNNING, row[ATTEMPT] + 1, row[CHARGED] + 1
  row[WORKER], row[CLAIM], row[STARTED] = worker, claim_id, false
  row[DEADLINE] = math.max(now, row[RUN_AT]) + row[HARD] + MINUTE
  mark(own, id, row[DEADLINE])
  touch(id)
  return claim_of(id, row, row[DEFINITION], written_worker, written_claim)
end

local claims, bytes = {}, 0
local pick = ids and picker_of_ids(ids, queues, abilities)
  or picker(queues, abilities, now, due)
while #claims < limit and bytes < most do
  local picked, lanes = pick(math.min(limit - #claims, AT_ONCE))
  if #picked == 0 then
    break
  end
  fetch(picked)
  for n, id in ipairs(picked) do
    local row = rows[id]
    if bytes < most and row[RUN_AT] <= due and (not row[EXPIRES] or row[EXPIRES] > now)
      and not left_out[row[JOB]] then
      claims[#claims + 1] = hand_over(id, row, lanes[n])
      bytes = bytes + #(row[PAYLOAD] or '')
    end
  end
end
flush()
return array(claims)
