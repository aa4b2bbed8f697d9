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

/** What was given, with every optional field there: undefined where it was left out. */
export type Filled<T> = {
  readonly [Name in keyof T]-?: Record<never, never> extends Pick<T, Name> ? T[Name] | undefined : T[Name];
};
