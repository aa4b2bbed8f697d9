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
  /** At most MAX_BUTTON_BYTES. Its first part, up to a colon, says who handles it. */
  readonly data: string;
}

/** The least that a platform takes. */
export const MAX_BUTTON_BYTES = 64;
/** The least that a platform shows. */
export const MAX_BUTTON_LABEL = 75;

/** Of buttons that agents make: pressing one says the rest of its data. */
export const SAYS = "say:";

export interface Embed {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

export interface Poll {
  readonly question: string;
  readonly options: readonly string[];
}

/** The least that a platform takes: characters of a question, characters of an option, options. */
export const MAX_POLL_QUESTION = 300;
export const MAX_POLL_OPTION = 55;
export const MAX_POLL_OPTIONS = 10;

/** The platform's own thread, which a delivery opens. */
interface NewThread {
  readonly name: string;
}

/** The least that a platform takes. */
export const MAX_THREAD_NAME = 100;

/** How many files one message or answer has at most. */
export const MAX_FILES = 10;

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
