/** A page of a list as it goes over the wire. */
export function pageOf<Item, View>(
  { items, next }: { readonly items: readonly Item[]; readonly next: string | undefined },
  view: (item: Item) => View,
): { items: View[]; next: string | null } {
  return { items: items.map(view), next: next ?? null };
}

/** What was not given is left out, for whoever tells an absent option from an undefined one. */
export function withoutAbsent<T extends object>(options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>;
}

type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };
