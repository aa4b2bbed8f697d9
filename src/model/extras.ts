/** What a channel shows beside the text of a message, as far as it can. It is part of a delivery, so it survives. */
export interface Extras {
  /** Shown below the last message of the text. Pressing one comes back as an event with its data. */
  readonly buttons?: readonly Button[];
  /**
   * The message that the first part of the text replaces, instead of being a new one: by the platform's id, or by the id of
   * the delivery that it was the last of. If it never arrived, or the channel cannot edit, the text is a new message.
   */
  readonly edits?: string;
  /** A framed block below the text. */
  readonly embed?: Embed;
  /** Opened first: everything else is sent inside it. */
  readonly thread?: NewThread;
  /** Sent after the text, each as a message of its own. */
  readonly files?: readonly OutgoingFile[];
  /** Sent last. */
  readonly poll?: Poll;
}

export interface Button {
  readonly label: string;
  /** At most 64 bytes, the least that a platform takes. */
  readonly data: string;
}

export interface Embed {
  readonly title?: string;
  readonly description?: string;
}

interface Poll {
  readonly question: string;
  readonly options: readonly string[];
}

/** The platform's own thread, which a delivery opens. */
interface NewThread {
  readonly name: string;
}

/** A file that is kept by its hash. */
export interface OutgoingFile {
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Whether it is to be played as a voice note. */
  readonly voice?: boolean;
}

/** What a delivery sends beside its text, as a message of its own. */
export type Part =
  | ({ readonly kind: "thread" } & NewThread)
  | ({ readonly kind: "file" } & OutgoingFile)
  | ({ readonly kind: "poll" } & Poll);
