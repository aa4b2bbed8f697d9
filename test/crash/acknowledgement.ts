/** What a child says, each the moment it knows: the store has promised these, so they must survive it. */
export type Acknowledgement =
  | { readonly kind: "up" }
  | { readonly kind: "event"; readonly event: string; readonly item: string }
  /** One that only hooks send on. */
  | { readonly kind: "heard"; readonly event: string }
  | { readonly kind: "judged"; readonly event: string; readonly hook: string; readonly fired: boolean }
  | { readonly kind: "claim"; readonly session: string; readonly run: string }
  | { readonly kind: "journal"; readonly turn: string; readonly messages: number; readonly calls: number }
  | { readonly kind: "turn"; readonly turn: string; readonly session: string }
  | { readonly kind: "failed"; readonly run: string }
  | { readonly kind: "dead"; readonly item: string }
  | { readonly kind: "fork"; readonly label: string; readonly turn: string }
  | { readonly kind: "sent"; readonly delivery: string; readonly chunk: number }
  | { readonly kind: "drained" }
  /** Something that must not happen, seen by the child itself. */
  | { readonly kind: "violation"; readonly text: string };
