/**
 * The tables. Their names are singular and their keys are integers; both stay inside this folder. The
 * outside sees the plural views of `views.ts`, with text ids.
 *
 * Three ideas are worth knowing before reading on.
 *
 * - **The key of a turn is the key of its first run**, so it exists while the turn is being made. The
 *   messages and tool calls of a run are written straight to their final place under that key: the
 *   journal of a run and the content of its turn are the same rows, written once. They become visible
 *   when the row in `turn` appears.
 * - **The n-th message of a turn has the key `turn × 65,536 + n`**, and so has its n-th tool call. The
 *   content of a turn is a range of keys and needs no index.
 * - **`session.ready_ms` is the moment at which a session next needs somebody**: the due time of its
 *   first message when it is idle, the end of the lease when it is held, null when nothing is to be
 *   done or the run is suspended. One index finds new work, retries and abandoned runs alike.
 */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: ground() },
  { version: 2, sql: feedAndLists() },
  { version: 3, sql: queueUnderPressure() },
  { version: 4, sql: deadDeliveriesGivenUp() },
  { version: 5, sql: approvalsAndSpending() },
  { version: 6, sql: searchIndex() },
  { version: 7, sql: hooksAndFiles() },
  { version: 8, sql: delegations() },
  { version: 9, sql: relays() },
  { version: 10, sql: teams() },
  { version: 11, sql: pruning() },
  { version: 12, sql: placesKnown() },
  { version: 13, sql: interruptions() },
  { version: 14, sql: requestsInChats() },
  { version: 15, sql: compacting() },
  { version: 16, sql: chains() },
  { version: 17, sql: modelUsage() },
  { version: 18, sql: sessionCounts() },
  { version: 19, sql: progressOfJobs() },
  { version: 20, sql: timings() },
  { version: 21, sql: principalsAndLabels() },
  { version: 22, sql: tokensAndAudit() },
  { version: 23, sql: people() },
  { version: 24, sql: heldAnswers() },
  { version: 25, sql: lanes() },
  { version: 26, sql: shares() },
  { version: 27, sql: audiences() },
  { version: 28, sql: placesOpened() },
  { version: 29, sql: channels() },
  { version: 30, sql: talks() },
  { version: 31, sql: cursorsOfAll() },
  { version: 32, sql: drafts() },
];

function ground(): string {
  return `
create table place (
  key integer primary key,
  id text not null unique,
  channel text not null,
  account text not null,
  place text not null,
  topic text,
  first_ms integer not null
) strict;

create table event (
  seq integer primary key,
  id text not null unique,
  at_ms integer not null,
  received_ms integer not null,
  channel text not null,
  direction text not null,
  sender text,
  place integer references place,
  reply_to text,
  content text,
  content_type text not null,
  attachments text,
  payload text,
  metadata text,
  message integer, -- of an answer: the message that holds its content
  differing integer not null default 0
) strict;
create index event_at on event (at_ms);

create table session (
  key integer primary key,
  label text not null unique,
  agent text not null,
  persona text not null,
  channel text,
  head integer references turn,
  epoch integer not null default 0,
  holder text,
  run integer references run,
  ready_ms integer,
  settings text,
  parent_session integer references session,
  parent_turn text,
  parent_call text,
  task text,
  created_ms integer not null,
  used_ms integer not null
) strict;
create index session_ready on session (ready_ms, epoch) where ready_ms is not null;
create index session_head on session (head) where head is not null;

create table run (
  key integer primary key,
  id text not null unique,
  turn integer not null,
  turn_id text not null,
  session integer not null references session,
  parent integer references turn,
  item integer, -- the one that the turn is for
  source integer, -- the event of that item
  merged integer not null default 0, -- further items that became part of the turn
  attempt integer not null,
  state text not null,
  interruptions integer not null default 0,
  progress integer not null default 0, -- journal entries so far
  claimed_progress integer not null default 0, -- of these, those that were there when the run was last claimed
  pinned text,
  wait_id text,
  wait_kind text,
  wait_detail text,
  abort text,
  error text,
  started_ms integer not null,
  ended_ms integer,
  ended_epoch integer -- under which lease
) strict;
create index run_turn on run (turn_id) where state <> 'completed';

create table turn (
  key integer primary key,
  id text not null unique,
  parent integer references turn,
  depth integer not null,
  jump integer, -- an ancestor far back: see ancestry.ts
  type text not null,
  status text not null,
  first_kept integer references turn,
  session integer not null references session,
  agent text not null,
  persona text not null,
  role text not null,
  profile text not null,
  provider text not null,
  model text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  reasoning_tokens integer not null,
  cost_usd real,
  tool_calls integer not null,
  permissions text,
  source integer references event,
  run integer not null, -- the one that completed it
  started_ms integer not null,
  completed_ms integer not null,
  hash blob not null
) strict;
create index turn_parent on turn (parent);
create index turn_session on turn (session);
create index turn_completed on turn (completed_ms);

create table message (
  key integer primary key,
  id text not null,
  role text not null,
  content text not null,
  body text,
  at_ms integer not null
) strict;

create table tool_call (
  key integer primary key,
  call_id text not null,
  tool text not null,
  params text not null,
  status text not null,
  result text,
  child_session text,
  started_ms integer not null,
  completed_ms integer
) strict;

create table item (
  key integer primary key,
  id text not null unique,
  event integer not null references event,
  session integer not null references session,
  mode text not null,
  state text not null,
  due_ms integer not null,
  queued_ms integer not null,
  turn integer, -- once it was claimed; of one that was dropped, the turn that was told of it
  policy text, -- by which it was dropped
  settled_ms integer,
  unique (event, session)
) strict;
create index item_open on item (session, key) where settled_ms is null;
create index item_merged on item (turn) where state = 'merged';
create index item_dead on item (turn) where state = 'dead';

create table dispatch (
  key integer primary key,
  id text not null,
  event integer not null references event,
  hook text not null,
  item integer not null references item,
  outcome text not null,
  mode text not null,
  message text,
  context text,
  permissions text,
  profile text,
  delivery text,
  at_ms integer not null,
  unique (event, hook)
) strict;

create table delivery (
  key integer primary key,
  id text not null unique,
  turn integer,
  target text not null, -- the target as one text: what must leave in order
  channel text not null,
  account text not null,
  place text not null,
  topic text,
  reply_to text,
  content text, -- null: the answer of the turn
  message integer,
  state text not null,
  epoch integer not null default 0,
  holder text,
  attempt integer not null default 0,
  due_ms integer not null,
  error text,
  created_ms integer not null,
  settled_ms integer
) strict;
create index delivery_open on delivery (target, key) where settled_ms is null;
create index delivery_due on delivery (due_ms) where settled_ms is null;
create index delivery_turn on delivery (turn);
create index delivery_dead on delivery (key) where state = 'dead';

create table chunk (
  delivery integer not null references delivery,
  place integer not null,
  content text not null,
  state text not null,
  platform_id text,
  primary key (delivery, place)
) strict, without rowid;

create table hook (
  key integer primary key,
  id text not null unique,
  name text not null,
  description text not null,
  mode text not null,
  state text not null,
  error text,
  failures integer not null default 0,
  opened_ms integer,
  digest text not null,
  triggers integer not null default 0,
  triggered_ms integer,
  created_ms integer not null
) strict;

create table hook_run (
  key integer primary key,
  hook integer not null references hook,
  event integer not null references event,
  fired integer not null,
  result text,
  error text,
  llm_calls integer not null default 0,
  cost_usd real,
  started_ms integer not null,
  ended_ms integer not null,
  unique (event, hook)
) strict;

create table persona (
  id text primary key,
  identity text not null,
  permissions text not null,
  main_session text,
  updated_ms integer not null
) strict, without rowid;

create table approval (
  key integer primary key,
  id text not null unique,
  run integer not null references run,
  kind text not null,
  call_hash text not null,
  request text not null,
  state text not null,
  answer text,
  expires_ms integer not null,
  asked_ms integer not null,
  answered_ms integer
) strict;
create index approval_open on approval (expires_ms) where answered_ms is null;

create table relay (
  key integer primary key,
  id text not null unique,
  template text not null,
  state text not null,
  record text not null,
  started_ms integer not null,
  ended_ms integer
) strict;

create table relay_step (
  relay integer not null references relay,
  step integer not null,
  slot text not null,
  turn integer references turn,
  state text not null,
  record text not null,
  started_ms integer not null,
  ended_ms integer,
  primary key (relay, step)
) strict, without rowid;
`;
}

/** The feed of changes (change-entry.ts says what the facts are), and what lists and counts need. */
function feedAndLists(): string {
  return `
create table change (
  seq integer primary key,
  at_ms integer not null,
  facts text not null
) strict;
create index run_suspended on run (key) where state = 'suspended';

-- What a list of events is narrowed down by, without looking at the events that it leaves out.
drop index event_at;
create index event_at on event (at_ms, seq, channel, direction);
`;
}

/** Both hold next to nothing: what interrupts is taken first, and what was dropped is told of soon. */
function queueUnderPressure(): string {
  return `
create index item_interrupt on item (session, key) where settled_ms is null and mode = 'interrupt';
create index item_unseen on item (session, key) where state = 'dropped' and policy = 'summarize' and turn is null;
`;
}

/** They are few among all that were sent. */
function deadDeliveriesGivenUp(): string {
  return `
create index delivery_dropped on delivery (key) where state = 'dropped';
`;
}

/** What people are asked, what was spent, and what a thread has come into contact with. */
function approvalsAndSpending(): string {
  return `
drop index approval_open;
create index approval_open on approval (expires_ms) where state = 'open';
create index approval_run on approval (run) where state = 'open';

alter table turn add column trust text; -- the marks of its session when it was committed
create index turn_spent on turn (persona, completed_ms, cost_usd);

-- Of what it has journalled; what an attempt has spent goes over to the next one at the same turn.
alter table run add column cost_usd real not null default 0;
create index run_spent on run (ended_ms, session, cost_usd)
  where cost_usd > 0 and state <> 'completed' and state <> 'aborted';
update run set cost_usd = (
    select coalesce(sum(json_extract(m.body, '$.costUsd')), 0) from message m
    where m.key between run.turn * 65536 and run.turn * 65536 + 65535 and m.role = 'assistant')
  where key in (select run from session where run is not null);
`;
}

/**
 * The index of what was said, by the words of `model/words.ts`: they come with spaces between them, and all that SQLite
 * has to do is to cut there. It keeps no texts, they are in `event` and `message`. Nothing is indexed here: a large
 * ledger would take minutes. Merging is a part of each step of index-events.ts, so that no step is long.
 */
function searchIndex(): string {
  return `
create virtual table search using fts5 (content, channel, content = '', contentless_delete = 1, tokenize = 'ascii');
insert into search (search, rank) values ('automerge', 0);
insert into search (search, rank) values ('crisismerge', 64);
create table search_progress (seq integer not null) strict; -- one row: the last event that is indexed
insert into search_progress (seq) values (0);
`;
}

/** No hook was ever written before, so that the table can be made anew as it should be. */
function hooksAndFiles(): string {
  return `
drop table hook;
create table hook (
  key integer primary key,
  name text not null unique,
  title text not null,
  description text not null,
  mode text not null,
  digest text not null,
  filter text,
  origin text not null,
  enabled integer not null,
  present integer not null, -- its file is there
  load_error text,
  run_error text, -- of the last run, while they fail
  failures integer not null default 0, -- in a row
  opened_ms integer,
  triggers integer not null default 0,
  triggered_ms integer,
  created_ms integer not null,
  state text generated always as (
    case when not (enabled and present) then 'disabled' when load_error is not null then 'errored'
         when opened_ms is not null then 'open' else 'active' end) virtual
) strict;
create index hook_run_hook on hook_run (hook, key);
create index hook_run_spent on hook_run (ended_ms, cost_usd) where cost_usd > 0;

-- Events that some hook may still have to be asked about.
create table unjudged (event integer primary key references event) strict;

create table watched_file (
  path text primary key,
  modified_ms integer not null,
  size integer not null,
  sha256 text not null
) strict, without rowid;
`;
}

/**
 * Work that one session's agent has given to another's. A trigger ends it, because a message is settled in many ways:
 * its turn is committed or aborted, it dies, or one of several policies drops it. No way can forget it so.
 *
 * No session was a worker's before, so that the column for what a worker is given can have its proper name.
 */
function delegations(): string {
  return `
alter table session rename column task to worker;
create index session_parent on session (parent_session) where parent_session is not null;

create table delegation (
  key integer primary key,
  id text not null unique,
  caller integer not null references session,
  caller_turn integer not null, -- the key that the turn has, or will have
  ordinal integer not null, -- the tool call in it
  session integer not null references session,
  item integer not null references item,
  waits integer not null,
  state text not null,
  error text,
  deadline_ms integer,
  detail text,
  started_ms integer not null,
  ended_ms integer,
  reported_ms integer
) strict;
create index delegation_turn on delegation (caller_turn);
create index delegation_caller on delegation (caller, key);
create index delegation_session on delegation (session, key);
create index delegation_item on delegation (item);
create index delegation_open on delegation (caller) where state = 'open';
create index delegation_deadline on delegation (deadline_ms) where state = 'open' and deadline_ms is not null;
create index delegation_unreported on delegation (ended_ms)
  where ended_ms is not null and reported_ms is null and state <> 'cancelled';

create trigger delegation_over after update of settled_ms on item
  when old.settled_ms is null and new.settled_ms is not null
begin
  update delegation set
    state = case new.state when 'dropped' then 'dropped' when 'dead' then 'failed'
      else iif((select status from turn where key = new.turn) = 'completed', 'done', 'aborted') end,
    error = iif(new.state = 'dead',
      (select r.error from session s join run r on r.key = s.run where s.key = new.session), null),
    ended_ms = new.settled_ms
  where item = new.key and state = 'open';
end;
`;
}

/**
 * Relays. No relay was ever written before, so that the tables can be made anew. A trigger ends a step with its message,
 * as with delegations. It makes the relay another version too: whoever decides what comes next has then read the end of
 * every step, or is refused.
 */
function relays(): string {
  return `
drop table relay_step;
drop table relay;

create table relay_config (
  hash text primary key,
  json text not null
) strict, without rowid;

create table relay (
  key integer primary key,
  id text not null unique,
  template text,
  state text not null,
  version integer not null default 1,
  record text not null,
  detail text,
  config text references relay_config,
  channel text,
  caller integer references session, -- whose call waits for its end
  caller_turn integer,
  ordinal integer,
  due_ms integer,
  archived integer not null default 0,
  created_ms integer not null,
  updated_ms integer not null,
  ended_ms integer
) strict;
create index relay_due on relay (due_ms, key) where due_ms is not null;
create index relay_open on relay (key) where ended_ms is null;
create index relay_ended on relay (ended_ms) where ended_ms is not null and archived = 0;
create index relay_channel on relay (channel, key) where channel is not null;
create index relay_caller on relay (caller_turn) where caller_turn is not null;

create table relay_step (
  relay integer not null references relay,
  step integer not null,
  slot text not null,
  state text not null,
  item integer references item,
  record text not null,
  cost_usd real,
  started_ms integer not null,
  ended_ms integer,
  primary key (relay, step)
) strict, without rowid;
create index relay_step_item on relay_step (item) where item is not null;
create index relay_step_spent on relay_step (ended_ms, cost_usd) where cost_usd > 0;

create trigger relay_step_over after update of settled_ms on item
  when old.settled_ms is null and new.settled_ms is not null
begin
  update relay set due_ms = coalesce(due_ms, new.settled_ms), version = version + 1
  where key in (select relay from relay_step where item = new.key and state = 'running');
  update relay_step set state = 'ended', ended_ms = new.settled_ms where item = new.key and state = 'running';
end;
`;
}

/** The files of a team are the truth about its tasks; this is the truth about the turns that work on them. */
function teams(): string {
  return `
create table team_member (
  team text not null, -- its directory
  member text not null,
  state text not null,
  item integer references item, -- of the turn that is asked for
  updated_ms integer not null,
  primary key (team, member)
) strict, without rowid;
`;
}

/** When what was said was taken out of them. Null: it is there. */
function pruning(): string {
  return `
alter table turn add column pruned_ms integer;
alter table event add column pruned_ms integer;
`;
}

/** What events say of the place where they happened, and of files that came with them. */
function placesKnown(): string {
  return `
alter table place add column kind text;
alter table place add column name text;
alter table place add column parent integer references place;
alter table event add column mentions_me integer;
create index event_attached on event (seq) where attachments is not null;
`;
}

/** The message that a run was aborted for. Null: somebody asked for it, or it was not aborted. */
function interruptions(): string {
  return `
alter table run add column abort_item integer references item;
`;
}

/** A step of a relay, or a worker, is in no chat: what it asks is asked in the one that its work came from. */
function requestsInChats(): string {
  return `
alter table approval add column chat text; -- the label of a session, which may not have begun; null: its own
alter table approval add column notice text; -- the delivery by which it was asked elsewhere
`;
}

/** Since when a run sums its thread up. Null: it does not. */
function compacting(): string {
  return `
alter table run add column compacting_ms integer;
`;
}

/** What caused an event, how deep it is in its chain, and what hooks say beside firing. */
function chains(): string {
  return `
alter table event add column cause integer references event; -- null: it began its chain
alter table event add column depth integer not null default 0; -- how many links lie between it and that beginning
alter table event add column returned integer not null default 0; -- how many results came back on the way
alter table hook_run add column exclusive integer not null default 0; -- it silences the default hooks
`;
}

/** How often models were asked, and with how many tokens: see count-usage.ts. */
function modelUsage(): string {
  return `
create table model_usage (
  step integer not null,
  persona text not null, -- empty: hooks have asked, who are nobody's
  calls integer not null,
  tokens integer not null,
  primary key (step, persona)
) strict, without rowid;
`;
}

/** How much was said in a session: it is read with every message, and must not take longer the more there is. */
function sessionCounts(): string {
  return `
alter table session add column turns integer not null default 0; -- made in it
alter table session add column messages integer not null default 0; -- of those turns
update session set turns = t.turns, messages = t.messages
from (select c.session, count(*) as turns,
        sum((select count(*) from message m where m.key between c.key * 65536 and c.key * 65536 + 65535)) as messages
      from turn c group by c.session) t
where t.session = session.key;
`;
}

/**
 * State that was kept elsewhere before: how far session scripts had come in the ids of their events, the import of old
 * relays as a watched file, the repetition of a chunk in the text of its delivery's error.
 */
function progressOfJobs(): string {
  return `
create table progress (
  job text primary key,
  position integer not null
) strict, without rowid;
insert into progress select 'search', seq from search_progress;
drop table search_progress;

-- The event of a script that began names the change it ran for, which may have started several; a mark ends in :watch.
insert into progress
  select 'session-scripts', cast(substr(id, 8, 16) as integer) - iif(id glob '*:watch', 0, 1)
  from event where id > 'script:' and id < 'script;' order by id desc limit 1;

insert into progress
  select 'relay-import', max(size) from watched_file where path glob 'relay-import:*' having count(*) > 0;
delete from watched_file where path glob 'relay-import:*';

alter table chunk add column repeated integer not null default 0; -- it may have arrived, and is sent once more
update chunk set repeated = 1 where (delivery, place) in (
  select key, cast(substr(error, 9) as integer) - 1 from delivery
  where (settled_ms is null or state = 'dead') and error glob 'Message [0-9]* may arrive twice.*');
`;
}

/** On whose authority things happen, and the labels of data: see `principal.ts` and `trust.ts` of the model. */
function principalsAndLabels(): string {
  return `
alter table event add column principal text; -- null: stored before there were any
alter table event add column label text; -- of its content, beside what its principal says; null: none
alter table turn add column principal text;

create table written_file (
  path text not null,
  sha256 text not null,
  size integer not null,
  label text not null,
  principal text not null,
  turn text,
  at_ms integer not null,
  primary key (path, sha256)
) strict, without rowid;
create index written_file_size on written_file (size);

create table labelled_command (
  key integer primary key,
  id text not null unique,
  folders text not null,
  label text not null,
  principal text not null,
  turn text not null,
  started_ms integer not null,
  ended_ms integer
) strict;
create index labelled_command_started on labelled_command (started_ms);
`;
}

function timings(): string {
  return `
alter table run add column timing text; -- where the time of its turn went
`;
}

/** Scoped tokens by the hash of their secret, the log of decisions, and which token sent an event. */
function tokensAndAudit(): string {
  return `
create table token (
  key integer primary key,
  id text not null unique,
  name text not null,
  hash text not null unique,
  can text not null,
  person text, -- null: the owner's
  created_ms integer not null,
  expires_ms integer,
  revoked_ms integer,
  last_used_ms integer
) strict;
create unique index token_name on token (name) where revoked_ms is null;

create table audit_entry (
  seq integer primary key autoincrement, -- remembers how many there were
  at_ms integer not null,
  principal text not null,
  kind text not null,
  object text not null,
  detail text not null,
  hash blob not null
) strict;
create index audit_entry_kind on audit_entry (kind, seq);

alter table event add column token text; -- the name of the scoped token that sent it
`;
}

/** People, and what they are known by. The owner is always there. */
function people(): string {
  return `
create table person (
  key integer primary key,
  id text not null unique,
  name text not null,
  role text not null,
  permissions text, -- null: nothing is narrowed
  limits text not null,
  created_ms integer not null
) strict;
create unique index person_owner on person (role) where role = 'owner';
insert into person (id, name, role, limits, created_ms)
  values ('owner', 'Owner', 'owner', '{}', unixepoch() * 1000);

create table identity (
  key integer primary key,
  identity text not null unique,
  person integer not null references person
) strict;
create index identity_person on identity (person);

create table taken_over ( -- what the configuration of an older version named, so that a removed person stays removed
  identity text primary key
) strict, without rowid;
`;
}

/** Answers that wait for the owner, and where the names in the labels of sessions came from. */
function heldAnswers(): string {
  return `
alter table approval add column held text; -- the deliveries of an answer, and those of the notice that it was refused

create table label_origin (
  session integer not null references session,
  kind text not null, -- untrusted, private, denied, outward
  name text not null, -- empty: outward
  origin text not null,
  at_ms integer not null,
  primary key (session, kind, name)
) strict, without rowid;
`;
}

/**
 * Whose work waits: see lane.ts. In a session where messages of the owner wait, these are next. Only work that is open
 * needs a lane.
 */
function lanes(): string {
  return `
alter table item add column lane text; -- the principal of its event; null: the owner
alter table run add column lane text;
alter table session add column lane text; -- of its run, otherwise of the message that is next
drop index session_ready;
create index session_ready on session (ready_ms, epoch) where ready_ms is not null and lane is null;
create index session_others on session (lane, ready_ms, epoch) where ready_ms is not null and lane is not null;
create index session_others_held on session (holder) where holder is not null and lane is not null;

create table lane_served (
  lane text primary key,
  served_run integer not null -- the last run that began in it
) strict, without rowid;

update item set lane = (select nullif(principal, 'owner') from event where seq = item.event) where settled_ms is null;
update run set lane = (select nullif(principal, 'owner') from event where seq = run.source)
where key in (select run from session where run is not null);
update session set lane = coalesce(
  (select lane from run where key = session.run),
  (select lane from item i where i.session = session.key and i.settled_ms is null and i.state = 'queued'
   order by lane is not null, due_ms, key limit 1))
where ready_ms is not null or run is not null;
`;
}

/** What each of the others may use: see person-limits.ts, read-costs.ts and guests.ts. */
function shares(): string {
  return `
create index item_lane on item (lane) where lane is not null and settled_ms is null and state = 'queued';
create table person_rate (
  lane text primary key,
  tokens real not null, -- how many messages could be taken at once
  at_ms integer not null
) strict, without rowid;

create index turn_principal on turn (principal, completed_ms, cost_usd) where principal <> 'owner';
create index turn_others on turn (persona, completed_ms, cost_usd)
  where principal <> 'owner' and principal not glob 'source:timer*';

alter table model_usage rename to model_usage_before;
create table model_usage (
  step integer not null,
  persona text not null, -- empty: hooks have asked, who are nobody's
  others integer not null, -- for others than the owner
  calls integer not null,
  tokens integer not null,
  primary key (step, persona, others)
) strict, without rowid;
insert into model_usage select step, persona, 0, calls, tokens from model_usage_before;
drop table model_usage_before;

create table guest_day (
  day integer not null,
  guest text not null, -- empty: all of them
  events integer not null,
  unkept integer not null, -- of these, counted only
  primary key (day, guest)
) strict, without rowid;
`;
}

/** Events without a place remember for whom they happened: see audience.ts of the model. */
function audiences(): string {
  return `
alter table event add column audience text; -- null: its place and its principal say it
`;
}

/** What was said in a place before others came in stays between two: see heard.ts. */
function placesOpened(): string {
  return `
alter table place add column dm_until integer; -- the last event before it became a room
`;
}

/** What channels bring in and leave behind: see cursors.ts and pairings.ts. */
function channels(): string {
  return `
alter table event add column message_id text; -- the platform's own id of the message
alter table event add column about text; -- of an edit, a deletion, a reaction or a pressed button: the message it concerns
create index event_message on event (place, message_id) where message_id is not null;
create index event_newest on event (place) where message_id is not null and direction = 'received';

create table cursor (
  source text primary key,
  value text not null
) strict, without rowid;

create table pairing (
  code text primary key,
  identity text not null unique,
  name text not null,
  target text not null,
  offered_ms integer not null,
  expires_ms integer not null
) strict, without rowid;

alter table delivery add column extras text; -- what a channel shows beside the text: buttons, files
`;
}

/** What people in a place bring about: see moves.ts. */
function talks(): string {
  return `
create table move (
  event integer primary key references event, -- the command that asked for it
  place integer not null references place,
  "from" text not null, -- the session that the place is in by the configuration
  "to" text not null
) strict;
create index move_place on move (place, "from", event);

create index event_about on event (place, about) where about is not null;
create index chunk_sent on chunk (platform_id) where platform_id is not null;
`;
}

/** Watched files and jobs have a cursor like any other source: see cursors.ts. */
function cursorsOfAll(): string {
  return `
insert into cursor
  select 'file:' || path, json_object('modifiedMs', modified_ms, 'sha256', sha256, 'size', size) from watched_file;
drop table watched_file;

insert into cursor select 'job:' || job, cast(position as text) from progress;
drop table progress;
`;
}

/** Messages on platforms that show an answer while it is written: see drafts.ts. */
function drafts(): string {
  return `
create table draft (
  turn integer primary key, -- as of its runs: it may not be complete
  session integer not null references session,
  channel text not null,
  account text not null,
  place text not null,
  topic text,
  target text not null, -- as of the delivery that replaces it
  platform_id text,
  delivery integer references delivery
) strict;
create index draft_delivery on draft (delivery) where delivery is not null;
`;
}
