/**
 * How far a job that reads something in order has come, such as the last change it processed or the bytes it
 * imported. The job defines what a position means.
 */
export interface ProgressReads {
  /** Undefined: the job never recorded one. */
  get(job: string): Promise<number | undefined>;
}

export interface ProgressStore extends ProgressReads {
  /** Replaces the position of a job. May be repeated. */
  set(progress: Progress): Promise<void>;
}

export interface Progress {
  readonly job: string;
  readonly position: number;
}
