/** A page of a list, newest first. What arrives meanwhile neither repeats an item nor hides one. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** Give it back as `cursor` for the next page. Undefined: this was the last one. */
  readonly next: string | undefined;
}

export interface ListOptions {
  /** DEFAULT_PAGE unless told, at most MAX_PAGE. */
  readonly limit?: number;
  /** A cursor that this list did not give out is `request_invalid`. */
  readonly cursor?: string;
}

/** The same fields, none of them optional: undefined where one was left out. */
export type Filled<T> = { readonly [Name in keyof Required<T>]: T[Name] };
