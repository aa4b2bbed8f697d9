/** A page of a list, newest first. Items that arrive between two pages neither repeat nor hide others. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** Pass it as `cursor` to get the next page. Undefined: this is the last page. */
  readonly next: string | undefined;
}

export interface ListOptions {
  /** Defaults to DEFAULT_PAGE, at most MAX_PAGE. */
  readonly limit?: number;
  /** `request_invalid` unless it came from the same list. */
  readonly cursor?: string;
}

/** The same fields with none optional: undefined where one was left out. */
export type Filled<T> = { readonly [Name in keyof Required<T>]: T[Name] };
