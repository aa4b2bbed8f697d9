/**
 * Now, in milliseconds, on a clock that all processes of a machine share: on Linux this is CLOCK_MONOTONIC.
 * `performance.now()` begins anew in each process.
 */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
