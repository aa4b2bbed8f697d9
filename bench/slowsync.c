/*
 * Makes every fsync and fdatasync of a process take the same time.
 *
 * A real disk answers a sync in anything between 50 microseconds and 4 milliseconds, and changes
 * its mind within minutes, so two runs on it cannot be compared. With the data in memory (tmpfs)
 * and this library preloaded, a sync sleeps SLOWSYNC_US microseconds and reports success. That
 * ranks programs by how many syncs they wait for. It says nothing about surviving a power cut.
 *
 * Without SLOWSYNC_US the real call is made, so a process that merely inherits the preload keeps
 * its durability.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int slow(int number, int descriptor) {
  const char *asked = getenv("SLOWSYNC_US");
  if (asked == NULL) return (int)syscall(number, descriptor);

  long microseconds = atol(asked);
  if (microseconds <= 0) return 0;

  struct timespec rest = {microseconds / 1000000, (microseconds % 1000000) * 1000};
  /* PostgreSQL is signalled all the time; a sleep that a signal cuts short would be a cheap sync. */
  while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {
  }
  return 0;
}

int fsync(int descriptor) { return slow(SYS_fsync, descriptor); }

int fdatasync(int descriptor) { return slow(SYS_fdatasync, descriptor); }
