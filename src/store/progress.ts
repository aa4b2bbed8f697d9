/**
 * How far a job that reads something in order has come: the last change of the feed it looked at, the bytes of a file it
 * imported. What a position means is up to the job.
 */
export interface ProgressReads {
  /** Undefined: the job never recorded one. */
  get(job: string): Promise<number | undefined>;
}

export interface ProgressStore extends ProgressReads {
  /** Records the position of a job, replacing the previous one. May be repeated. */
  set(progress: Progress): Promise<void>;
}

export interface Progress {
  readonly job: string;
  readonly position: number;
}
