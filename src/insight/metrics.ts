/** Prometheus's text format, version 0.0.4: a help line, a type line, then one line a value. */
import type { Health } from "./health.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** Labels as they are written, with their values. */
  readonly values: readonly (readonly [labels: string, value: number])[];
}

interface Measured {
  readonly health: Health;
  readonly version: string;
  readonly startedAtMs: number;
}

export function writeMetrics(measured: Measured): string {
  return metricsOf(measured).map(writeMetric).join("");
}

function metricsOf(measured: Measured): readonly Metric[] {
  return [...workMetrics(measured), ...processMetrics(measured)];
}

function one(type: Metric["type"], name: string, help: string, value: number): Metric {
  return { name, type, help, values: [["", value]] };
}

function workMetrics({ health, version }: Measured): readonly Metric[] {
  const { ledger, queue, runs, deliveries, dead } = health;
  return [
    {
      name: "cortex_build_info",
      type: "gauge",
      help: "The version that runs.",
      values: [[`{version="${version}"}`, 1]],
    },
    one("counter", "cortex_events_total", "Events in the ledger.", ledger.events),
    one("counter", "cortex_turns_total", "Turns that were committed.", ledger.turns),
    one("gauge", "cortex_sessions", "Sessions.", ledger.sessions),
    one("gauge", "cortex_queue_items", "Messages that wait.", queue.waiting),
    one("gauge", "cortex_queue_sessions", "Sessions with a message that is due.", queue.sessionsWaiting),
    one(
      "gauge",
      "cortex_queue_oldest_seconds",
      "How long the oldest message that is due has waited.",
      seconds(queue.oldestWaitingMs),
    ),
    {
      name: "cortex_runs",
      type: "gauge",
      help: "Runs that are not over.",
      values: [
        ['{state="running"}', runs.running],
        ['{state="suspended"}', runs.suspended],
      ],
    },
    one(
      "gauge",
      "cortex_runs_stillest_seconds",
      "How long the run that has not moved for longest has not.",
      seconds(runs.stillest[0]?.stillMs ?? null),
    ),
    {
      name: "cortex_dead_letters",
      type: "gauge",
      help: "What failed for good and waits for a decision.",
      values: [
        ['{kind="message"}', dead.messages],
        ['{kind="delivery"}', dead.deliveries],
      ],
    },
    {
      name: "cortex_deliveries",
      type: "gauge",
      help: "Deliveries that are not settled.",
      values: (["pending", "sending", "unknown", "dead"] as const).map(
        (state) => [`{state="${state}"}`, deliveries[state]] as const,
      ),
    },
    one(
      "gauge",
      "cortex_deliveries_oldest_unknown_seconds",
      "The age of the oldest delivery of which nobody knows whether it arrived.",
      seconds(deliveries.oldestUnknownMs),
    ),
  ];
}

function processMetrics({ health, startedAtMs }: Measured): readonly Metric[] {
  const { hooks, streams, problems, loop, disk, memory } = health;
  return [
    {
      name: "cortex_hooks",
      type: "gauge",
      help: "Hooks.",
      values: (["active", "disabled", "errored", "open"] as const).map(
        (state) => [`{state="${state}"}`, hooks[state]] as const,
      ),
    },
    one(
      "gauge",
      "cortex_events_oldest_unjudged_seconds",
      "How long the oldest event that hooks are to judge has waited.",
      seconds(hooks.oldestUnjudgedMs),
    ),
    one("gauge", "cortex_streams", "Open streams of events.", streams),
    one("gauge", "cortex_problems", "Problems that GET /api/health?full=1 tells of.", problems.length),
    {
      name: "cortex_event_loop_delay_seconds",
      type: "gauge",
      help: "How late the main thread was in the last minute.",
      values: [
        ['{quantile="0.5"}', seconds(loop.p50Ms)],
        ['{quantile="0.99"}', seconds(loop.p99Ms)],
        ['{quantile="1"}', seconds(loop.maxMs)],
      ],
    },
    one("gauge", "cortex_database_bytes", "The size of the database.", disk.databaseBytes),
    one("gauge", "cortex_wal_bytes", "The size of its write-ahead log.", disk.walBytes),
    one("gauge", "cortex_disk_free_bytes", "What is free on the disk of the home.", disk.freeBytes),
    one("gauge", "cortex_heap_used_bytes", "Of the memory, what JavaScript uses.", memory.heapUsedBytes),
    one("gauge", "cortex_heap_limit_bytes", "How much of that there may be.", memory.heapLimitBytes),
    one("gauge", "process_resident_memory_bytes", "Memory in use.", memory.rssBytes),
    one("gauge", "process_start_time_seconds", "When the server started.", startedAtMs / 1_000),
  ];
}

/** Nothing there that could be late: 0. */
function seconds(ms: number | null): number {
  return (ms ?? 0) / 1_000;
}

function writeMetric({ name, type, help, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
