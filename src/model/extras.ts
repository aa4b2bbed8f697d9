/** What a channel shows beside the text of a message, as far as it can. It is part of a delivery, so it survives. */
export interface Extras {
  /** Shown below the last message of the text. Pressing one comes back as an event with its data. */
  readonly buttons?: readonly Button[];
  /** The platform's id of the message that the first part replaces, instead of being a new one. */
  readonly edits?: string;
}

interface Button {
  readonly label: string;
  /** At most 64 bytes, the least that a platform takes. */
  readonly data: string;
}
