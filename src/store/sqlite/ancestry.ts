/**
 * Jump pointers. Besides its parent, each turn points at one ancestor further back, chosen so that any ancestor is
 * reached in O(log depth) steps and storing a turn reads at most three rows (a skew-binary list).
 */
import type { Database } from "better-sqlite3";
import { required } from "./row.ts";

interface ParentRow {
  readonly key: number;
  readonly depth: number;
  readonly hash: Buffer;
  readonly jump: number | null;
  readonly jump_depth: number | null;
  readonly jump_jump: number | null;
  readonly jump_jump_depth: number | null;
}

/** What the row of a new turn needs to know about its ancestors. */
interface TurnPosition {
  readonly depth: number;
  readonly jump: number | null;
  readonly parentHash: Buffer | undefined;
}

const ROOT: TurnPosition = { depth: 0, jump: null, parentHash: undefined };

export function preparePosition(db: Database): (parent: number | null) => TurnPosition {
  const find = db.prepare<[number], ParentRow>(
    `select p.key, p.depth, p.hash, p.jump, j.depth as jump_depth, j.jump as jump_jump,
            k.depth as jump_jump_depth
     from turn p left join turn j on j.key = p.jump left join turn k on k.key = j.jump
     where p.key = ?`,
  );
  return (parent) => (parent === null ? ROOT : below(required(find.get(parent))));
}

function below(parent: ParentRow): TurnPosition {
  const step = parent.depth - (parent.jump_depth ?? parent.depth);
  const stepBefore = (parent.jump_depth ?? 0) - (parent.jump_jump_depth ?? parent.jump_depth ?? 0);
  const jump =
    parent.jump !== null && parent.jump_jump !== null && step === stepBefore ? parent.jump_jump : parent.key;
  return { depth: parent.depth + 1, jump, parentHash: parent.hash };
}

interface Step {
  readonly key: number;
  readonly depth: number;
  readonly parent: number | null;
  readonly jump: number | null;
  readonly jump_depth: number | null;
}

/** Finds the ancestor of a turn at a depth. */
export function prepareAncestor(db: Database): (turn: number, depth: number) => number | undefined {
  const find = db.prepare<[number], Step>(
    `select t.key, t.depth, t.parent, t.jump, j.depth as jump_depth
     from turn t left join turn j on j.key = t.jump where t.key = ?`,
  );
  return (turn, depth) => {
    let at = find.get(turn);
    while (at !== undefined && at.depth > depth) {
      const far = at.jump !== null && at.jump_depth !== null && at.jump_depth >= depth;
      const next: number | null = far ? at.jump : at.parent;
      at = next === null ? undefined : find.get(next);
    }
    return at?.depth === depth ? at.key : undefined;
  };
}
