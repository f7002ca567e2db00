-- Jobs by id, by name, by dedupe key. Needs json, rows.
local function entry_text(id, entry)
  return array({ text(id), list(entry, J_VERSION), text(redis.call('HGET', P .. 'job', id)) })
end

-- Cursor and facts of a definition, as Python gives them, into an entry.
local function define(entry, facts)
  for n, value in ipairs(facts) do
    entry[J_PAUSE + n] = value
  end
end

local function move_cursor(entry, cursor)
  for n, value in ipairs(cursor) do
    entry[n + 1] = value
  end
end
