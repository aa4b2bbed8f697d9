import type { Database } from "better-sqlite3";

import type { ItemId } from "../../model/ids.ts";
import type { StoredMember } from "../store.ts";
import { parseJson, maybe } from "./row.ts";

interface MemberRow {
  readonly team: string;
  readonly member: string;
  readonly state: string;
  readonly item: ItemId | null;
  readonly updated_ms: number;
}

const SELECT = `select m.team, m.member, m.state, i.id as item, m.updated_ms
  from team_member m left join item i on i.key = m.item`;

export function prepareReadTeam(db: Database) {
  const find = db.prepare<[string, string], MemberRow>(`${SELECT} where m.team = ? and m.member = ?`);
  const findAll = db.prepare<[string], MemberRow>(`${SELECT} where m.team = ? order by m.member`);
  return {
    get: (team: string, member: string): StoredMember | undefined => maybe(find.get(team, member), toMember),
    list: (team: string): StoredMember[] => findAll.all(team).map(toMember),
  };
}

function toMember({ team, member, state, item, updated_ms }: MemberRow): StoredMember {
  return {
    team,
    member,
    state: parseJson(state),
    item: item ?? undefined,
    updatedAtMs: updated_ms,
  };
}
