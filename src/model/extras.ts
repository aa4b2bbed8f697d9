/** What a channel shows beside the text of a message, as far as it can. It is part of a delivery, so it survives. */
export interface Extras {
  /** Shown below the last message of the text. Pressing one comes back as an event with its data. */
  readonly buttons?: readonly Button[];
  readonly poll?: { readonly question: string; readonly options: readonly string[] };
  readonly embed?: { readonly title?: string; readonly description?: string };
  readonly files?: readonly OutgoingFile[];
  /** Whether audio among the files is sent as a voice note. */
  readonly voice?: boolean;
  /** The platform's id of the message that the first part replaces, instead of being a new one. */
  readonly edits?: string;
  /** The name of the platform thread that the message starts. */
  readonly startThread?: string;
}

interface Button {
  readonly label: string;
  /** At most 64 bytes, the least that a platform takes. */
  readonly data: string;
  readonly style?: "primary" | "danger";
}

/** A file of the home's attachments, by its hash. */
export interface OutgoingFile {
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
}
