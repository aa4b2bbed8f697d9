/** A page of a list as it goes over the wire. */
export function pageOf<Item, View>(
  { items, next }: { readonly items: readonly Item[]; readonly next: string | undefined },
  view: (item: Item) => View,
): { items: View[]; next: string | null } {
  return { items: items.map(view), next: next ?? null };
}
