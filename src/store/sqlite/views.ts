/**
 * The public views for queries by hooks and people. Ids are text, times are milliseconds since 1970, and columns have
 * the names that scripts for the original systems use; a column that Cortex does not store is null.
 *
 * Views hold no data: they are recreated when their definition here has changed.
 */
import { NEVER_MS } from "./approval-requests.ts";
import { selectColumns } from "./columns.ts";
import { DELIVERY_FIELDS } from "./insert-delivery.ts";
import { DELEGATION_TABLES } from "./read-delegations.ts";

/** Like `splitEventId` of the model: a webhook's adapter includes its name after a colon. */
const ADAPTER_LENGTH = `(iif(e.id glob 'webhook:*:*', 8 + instr(substr(e.id, 9), ':'), instr(e.id, ':')) - 1)`;

/** The first work that another session delegated to a session. */
const GIVEN = (column: string): string =>
  `(select ${column} from delegation d join item i on i.key = d.item join event e on e.seq = i.event
             where d.session = s.key order by d.key limit 1)`;

export const VIEWS: Readonly<Record<string, string>> = {
  threads: `
    select t.id, t.channel, t.name, iif(t.kind is null, null, t.kind <> 'dm') as is_group,
           t.channel as source_adapter, t.place as source_id, p.id as parent_thread_id, t.account, t.place, t.topic,
           t.first_ms as created_at, t.kind
    from place t left join place p on p.key = t.parent`,

  events: `
    select e.id, e.at_ms as timestamp, e.channel, json_array(e.content_type) as content_types,
           coalesce(e.content, m.content) as content, e.direction, p.id as thread_id, e.reply_to,
           substr(e.id, 1, ${ADAPTER_LENGTH}) as source_adapter,
           substr(e.id, ${ADAPTER_LENGTH} + 2) as source_id,
           e.metadata as metadata_json, e.content_type, e.sender as sender_id, p.account, p.place, p.topic,
           e.payload as payload_json, e.attachments as attachments_json, e.received_ms as received_at,
           e.differing as differing_redeliveries, e.seq, e.pruned_ms as pruned_at,
           p.kind as place_kind, e.mentions_me, (select c.id from event c where c.seq = e.cause) as cause_id,
           e.depth, e.principal, e.label as label_json, e.token, e.audience
    from event e left join place p on p.key = e.place left join message m on m.key = e.message`,

  attachments: `
    select e.id as event_id, a.key as position, a.value ->> 'name' as name, a.value ->> 'contentType' as content_type,
           a.value ->> 'bytes' as bytes, a.value ->> 'sha256' as sha256, a.value ->> 'state' as status
    from event e, json_each(e.attachments) a
    where e.attachments is not null and json_type(e.attachments) = 'array' and a.type = 'object'`,

  agent_sessions: `
    select s.label as id, 'cortex' as source, h.model, null as project, s.created_ms as created_at,
           s.messages as message_count, p.label as parent_session_id, s.parent_turn as parent_message_id,
           s.parent_call as tool_call_id, ${GIVEN("e.content")} as task_description, ${GIVEN("d.state")} as task_status,
           s.parent_session is not null as is_subagent, null as context_token_limit,
           null as context_tokens_used, 1 as is_agentic, null as force_mode, null as workspace_path,
           s.settings as context_json,
           case when s.holder is not null then 'running' when s.run is not null then 'waiting' else 'idle' end
             as conversation_state,
           null as raw_json, null as summary, s.label, s.agent, s.persona, s.channel, h.id as thread_id,
           s.parent_turn as parent_turn_id, p.label as parent_session_label,
           s.parent_call as spawn_tool_call_id, s.used_ms as updated_at,
           s.turns as turn_count
    from session s left join session p on p.key = s.parent_session left join turn h on h.key = s.head`,

  agent_turns: `
    select t.id, s.label as session_id, p.id as parent_turn_id,
           (select json_group_array(m.id) from message m
             where m.key between t.key * 65536 and t.key * 65536 + 65535 and m.role = 'user') as query_message_ids,
           t.id as response_message_id, t.model, t.input_tokens + t.output_tokens as token_count,
           t.completed_ms as timestamp, exists (select 1 from turn c where c.parent = t.key) as has_children,
           t.tool_calls as tool_call_count, t.type as turn_type, t.status, t.depth, s.label as session_label,
           t.persona, t.agent, t.role, t.profile, t.provider, t.started_ms as started_at,
           t.completed_ms as completed_at, t.input_tokens, t.output_tokens,
           t.cache_read_tokens as cached_input_tokens, t.cache_read_tokens, t.cache_write_tokens,
           t.reasoning_tokens, t.input_tokens + t.output_tokens as total_tokens, t.cost_usd,
           json_extract(t.permissions, '$.granted') as permissions_granted,
           json_extract(t.permissions, '$.used') as permissions_used, e.id as source_event_id,
           k.id as first_kept_turn_id, null as toolset_name, null as tools_available, null as workspace_path,
           lower(hex(t.hash)) as hash, t.pruned_ms as pruned_at, t.principal, t.trust as label_json
    from turn t join session s on s.key = t.session left join turn p on p.key = t.parent
      left join turn k on k.key = t.first_kept left join event e on e.seq = t.source`,

  agent_messages: `
    select m.id, s.label as session_id, m.role, m.content, m.key % 65536 as sequence, m.at_ms as timestamp,
           null as checkpoint_id, 1 as is_agentic, 0 as is_plan_execution, m.body as context_json,
           null as cursor_rules_json, null as metadata_json, t.id as turn_id
    from turn t join message m on m.key between t.key * 65536 and t.key * 65536 + 65535 join session s on s.key = t.session`,

  agent_tool_calls: `
    select t.id || ':' || (c.key % 65536) as id, t.id as message_id, s.label as session_id,
           c.tool as tool_name, c.key % 65536 as tool_number, c.params as params_json, c.result as result_json,
           c.status, c.child_session as child_session_id, c.started_ms as started_at,
           c.completed_ms as completed_at, c.call_id, t.id as turn_id
    from turn t join tool_call c on c.key between t.key * 65536 and t.key * 65536 + 65535 join session s on s.key = t.session`,

  queue_items: `
    select i.id, e.id as event_id, s.label as session_label, i.mode, i.state as status,
           i.queued_ms as enqueued_at, i.due_ms as due_at, i.settled_ms as settled_at, i.policy,
           (select r.turn_id from run r where r.key = i.turn) as turn_id, e.principal
    from item i join event e on e.seq = i.event join session s on s.key = i.session`,

  dispatches: `
    select d.id, e.id as event_id, d.hook as hook_id, i.id as item_id, s.label as session_label, d.outcome,
           d.mode as queue_mode, d.message, d.context as context_json, d.permissions as permissions_json,
           d.profile, d.delivery as delivery_json, d.at_ms as timestamp
    from dispatch d join event e on e.seq = d.event join item i on i.key = d.item
      join session s on s.key = i.session`,

  runs: `
    select r.id, r.turn_id, s.label as session_label, r.attempt, r.state as status, r.interruptions,
           r.progress as journal_entries, r.wait_kind, r.wait_detail as wait_json, r.abort, r.error,
           r.started_ms as started_at, r.ended_ms as ended_at
    from run r join session s on s.key = r.session`,

  deliveries: `
    select d.id, r.turn_id, ${selectColumns("d", DELIVERY_FIELDS, ["id", "content"])}, coalesce(d.content, m.content) as content, d.state as status, d.attempt,
           d.due_ms as due_at, d.error, d.created_ms as created_at, d.settled_ms as settled_at
    from delivery d left join run r on r.key = d.turn left join message m on m.key = d.message`,

  hooks: `
    select name as id, title as name, description, mode, state as status,
           coalesce(load_error, run_error) as error, failures as consecutive_errors, opened_ms as opened_at,
           triggers as trigger_count, triggered_ms as last_triggered, created_ms as created_at,
           filter as filter_json, origin, enabled
    from hook`,

  hook_runs: `
    select h.name as hook_id, e.id as event_id, r.fired, r.result as result_json, r.error, r.llm_calls, r.cost_usd,
           r.started_ms as started_at, r.ended_ms as finished_at, r.exclusive
    from hook_run r join hook h on h.key = r.hook join event e on e.seq = r.event`,

  written_files: `
    select path, sha256, size, label as label_json, principal, turn as turn_id, at_ms as written_at
    from written_file`,

  personas: `
    select p.id, p.identity ->> 'name' as name, p.identity as identity_json, p.permissions as permissions_json,
           p.main_session, p.updated_ms as updated_at,
           (select count(*) from session s where s.persona = p.id) as session_count,
           (select count(*) from turn t where t.persona = p.id) as turn_count,
           (select t.model from turn t indexed by turn_spent where t.persona = p.id
             order by t.completed_ms desc limit 1) as model
    from persona p`,

  approvals: `
    select a.id, r.id as run_id, r.turn_id, s.label as session_label, a.kind, a.call_hash,
           a.request as request_json, a.state as status, a.answer as answer_json, a.asked_ms as asked_at,
           nullif(a.expires_ms, ${NEVER_MS}) as expires_at, a.answered_ms as answered_at
    from approval a join run r on r.key = a.run join session s on s.key = r.session`,

  delegations: `
    select d.id, c.label as caller_session_label, r.turn_id as caller_turn_id, d.ordinal as tool_number,
           s.label as session_label, i.id as item_id, d.waits, d.state as status, t.id as turn_id, d.error,
           d.detail as detail_json, d.deadline_ms as deadline_at, d.started_ms as started_at,
           d.ended_ms as ended_at, d.reported_ms as reported_at
    from ${DELEGATION_TABLES}`,

  relays: `
    select id, template, state as status, version, record as record_json, detail as detail_json,
           config as config_hash, archived, created_ms as created_at, updated_ms as updated_at, ended_ms as ended_at
    from relay`,

  relay_steps: `
    select r.id as relay_id, p.step, p.slot, u.turn_id, s.label as session_label, i.id as item_id,
           p.state as status, p.record as record_json, p.cost_usd, p.started_ms as started_at,
           p.ended_ms as ended_at
    from relay_step p join relay r on r.key = p.relay left join item i on i.key = p.item
      left join session s on s.key = i.session left join run u on u.key = i.turn`,

  people: `
    select id, name, role, permissions as permissions_json, limits as limits_json, created_ms as created_at
    from person`,

  identities: `
    select i.identity, p.id as person_id
    from identity i join person p on p.key = i.person`,

  tokens: `
    select id, name, can as can_json, person, created_ms as created_at, expires_ms as expires_at,
           revoked_ms as revoked_at, last_used_ms as last_used_at
    from token`,

  audit: `
    select seq, at_ms as at, principal, kind, object, detail as detail_json, lower(hex(hash)) as hash
    from audit_entry`,

  team_members: `
    select m.team, m.member, m.state as state_json, i.id as item_id, m.updated_ms as updated_at
    from team_member m left join item i on i.key = m.item`,
};
