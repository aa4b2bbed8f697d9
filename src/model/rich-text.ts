/** A text without markup, and what of it is shown how. */
export interface RichText {
  readonly text: string;
  readonly ranges: readonly { readonly from: number; readonly to: number; readonly kind: string }[];
}
