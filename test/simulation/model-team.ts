/** The members of a team as simple as they can be said: what is known of each, and the message that asks for its turn. */
import type { ModelItem } from "./model-item.ts";

export class ModelTeam {
  readonly members = new Map<string, { state: string; item: ModelItem | undefined }>();

  keep(member: string, { state, isOver }: { state: string; isOver: boolean }): void {
    const item = isOver ? undefined : this.members.get(member)?.item;
    this.members.set(member, { state, item });
  }

  order(member: string, { state, item }: { state: string; item: ModelItem }): void {
    this.members.set(member, { state, item });
  }
}
