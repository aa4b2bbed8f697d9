/** Metrics in the text format of Prometheus, version 0.0.4: a help line, a type line, then one line per value. */
import type { Health } from "./health.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** Serialized labels and values. */
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
      help: "The running version.",
      values: [[`{version="${version}"}`, 1]],
    },
    one("counter", "cortex_events_total", "Events in the ledger.", ledger.events),
    one("counter", "cortex_turns_total", "Committed turns.", ledger.turns),
    one("gauge", "cortex_sessions", "Sessions.", ledger.sessions),
    one("gauge", "cortex_queue_items", "Queued messages.", queue.waiting),
    one("gauge", "cortex_queue_sessions", "Sessions with a due message.", queue.sessionsWaiting),
    one(
      "gauge",
      "cortex_queue_oldest_seconds",
      "Age of the oldest due message.",
      seconds(queue.oldestWaitingMs),
    ),
    {
      name: "cortex_runs",
      type: "gauge",
      help: "Active runs.",
      values: [
        ['{state="running"}', runs.running],
        ['{state="suspended"}', runs.suspended],
      ],
    },
    one(
      "gauge",
      "cortex_runs_stillest_seconds",
      "Longest time without progress of a run.",
      seconds(runs.stillest[0]?.stillMs ?? null),
    ),
    {
      name: "cortex_dead_letters",
      type: "gauge",
      help: "Dead letters.",
      values: [
        ['{kind="message"}', dead.messages],
        ['{kind="delivery"}', dead.deliveries],
      ],
    },
    {
      name: "cortex_deliveries",
      type: "gauge",
      help: "Unsettled deliveries.",
      values: (["pending", "sending", "unknown", "dead"] as const).map(
        (state) => [`{state="${state}"}`, deliveries[state]] as const,
      ),
    },
    one(
      "gauge",
      "cortex_deliveries_oldest_unknown_seconds",
      "Age of the oldest delivery with unknown outcome.",
      seconds(deliveries.oldestUnknownMs),
    ),
  ];
}

function processMetrics({ health, startedAtMs }: Measured): readonly Metric[] {
  const { hooks, channels, streams, problems, loop, disk, memory } = health;
  return [
    {
      name: "cortex_hooks",
      type: "gauge",
      help: "Hooks by state.",
      values: (["active", "disabled", "errored", "open"] as const).map(
        (state) => [`{state="${state}"}`, hooks[state]] as const,
      ),
    },
    one(
      "gauge",
      "cortex_events_oldest_unjudged_seconds",
      "Age of the oldest event that waits for hooks.",
      seconds(hooks.oldestUnjudgedMs),
    ),
    {
      name: "cortex_channel_up",
      type: "gauge",
      help: "Whether an account of a chat channel is connected.",
      values: channels.map(
        ({ name, account, downMs }) =>
          [
            `{channel=${JSON.stringify(name)},account=${JSON.stringify(account)}}`,
            downMs === null ? 1 : 0,
          ] as const,
      ),
    },
    one("gauge", "cortex_streams", "Open event streams.", streams),
    one("gauge", "cortex_problems", "Problems in GET /api/health?full=1.", problems.length),
    {
      name: "cortex_event_loop_delay_seconds",
      type: "gauge",
      help: "Delay of the main thread in the last minute.",
      values: [
        ['{quantile="0.5"}', seconds(loop.p50Ms)],
        ['{quantile="0.99"}', seconds(loop.p99Ms)],
        ['{quantile="1"}', seconds(loop.maxMs)],
      ],
    },
    one("gauge", "cortex_database_bytes", "The size of the database.", disk.databaseBytes),
    one("gauge", "cortex_wal_bytes", "The size of its write-ahead log.", disk.walBytes),
    one("gauge", "cortex_disk_free_bytes", "Free space on the disk of the home.", disk.freeBytes),
    one("gauge", "cortex_heap_used_bytes", "JavaScript heap in use.", memory.heapUsedBytes),
    one("gauge", "cortex_heap_limit_bytes", "JavaScript heap limit.", memory.heapLimitBytes),
    one("gauge", "process_resident_memory_bytes", "Memory in use.", memory.rssBytes),
    one("gauge", "process_start_time_seconds", "When the server started.", startedAtMs / 1_000),
  ];
}

/** 0 for nothing. */
function seconds(ms: number | null): number {
  return (ms ?? 0) / 1_000;
}

function writeMetric({ name, type, help, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
