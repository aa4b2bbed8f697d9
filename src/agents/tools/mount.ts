/** Something that is put into the sandbox. */
export interface Mount {
  readonly at: string;
  /** As bubblewrap is told. */
  readonly words: readonly string[];
  /** It is made for the sandbox, and is there whatever the agent may use. */
  readonly isFresh?: true;
}
