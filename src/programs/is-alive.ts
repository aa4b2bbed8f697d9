import { hasCode } from "../model/error-code.ts";

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM"); // it belongs to another user
  }
}
