/** What the programs of one agent may use. Memory and processes count over all its programs at the same time. */
export interface ResourceLimits {
  readonly memoryMb: number;
  readonly processes: number;
  /** Of one command. */
  readonly cpuSeconds: number;
  /** Of one process. */
  readonly openFiles: number;
  /** Of one file that a command writes. */
  readonly fileMb: number;
}

/** What an agent may use of this machine. */
export interface Bounds {
  readonly limits: ResourceLimits;
  /** Throws `quota_exceeded` if the agent may write nothing more. */
  checkDisk(): Promise<void>;
  /**
   * Call it right before a program starts.
   *
   * @param memoryFolders What the program sees there is kept in memory.
   */
  watch(memoryFolders?: readonly string[]): ProgramWatch;
  /** The same for a program of the owner's that checks the agent: what is on the disk is not its doing. */
  watchCheck(): ProgramWatch;
}

/** Follows the processes of one program, wherever they go. Nothing here rejects. */
export interface ProgramWatch {
  /** Marks the program and its descendants. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves with a sentence when a limit is exceeded, else never. */
  readonly exceeded: Promise<string>;
  /** The program has started, as the leader of its process group. */
  begin(leader: number): void;
  /** Asks processes that have left the group to end. */
  terminate(): Promise<void>;
  /**
   * Ends all processes that are left, and the watch: those that have left the group are first asked to. Also for a program
   * that could not be started.
   */
  end(graceMs: number): Promise<void>;
}

/** For a program that ends with its process group. */
export const UNWATCHED: ProgramWatch = {
  environment: {},
  exceeded: new Promise(() => {}),
  begin: () => {},
  terminate: async () => {},
  end: async () => {},
};
