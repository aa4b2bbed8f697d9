/** Prometheus's text format, version 0.0.4: a help line, a type line, then one line a value. */
import type { Cortex } from "../runtime/cortex.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Counts = Awaited<ReturnType<Cortex["store"]["counts"]>>;

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** Labels as they are written, with their values. */
  readonly values: readonly (readonly [labels: string, value: number])[];
}

export interface Measured {
  readonly counts: Counts;
  readonly version: string;
  readonly startedAtMs: number;
  readonly memoryBytes: number;
}

export function writeMetrics(measured: Measured): string {
  return metricsOf(measured).map(writeMetric).join("");
}

function metricsOf({ counts, version, startedAtMs, memoryBytes }: Measured): readonly Metric[] {
  const one = (type: Metric["type"], name: string, help: string, value: number): Metric => ({
    name,
    type,
    help,
    values: [["", value]],
  });
  return [
    {
      name: "cortex_build_info",
      type: "gauge",
      help: "The version that runs.",
      values: [[`{version="${version}"}`, 1]],
    },
    one("counter", "cortex_events_total", "Events in the ledger.", counts.events),
    one("counter", "cortex_turns_total", "Turns that were committed.", counts.turns),
    one("gauge", "cortex_sessions", "Sessions.", counts.sessions),
    one("gauge", "cortex_queue_items", "Messages that wait.", counts.queued),
    {
      name: "cortex_runs",
      type: "gauge",
      help: "Runs that are not over.",
      values: [
        ['{state="running"}', counts.running],
        ['{state="suspended"}', counts.suspended],
      ],
    },
    one("gauge", "cortex_dead_letters", "Messages whose turns failed for good.", counts.dead),
    {
      name: "cortex_deliveries",
      type: "gauge",
      help: "Deliveries that are not settled.",
      values: Object.entries(counts.deliveries).map(
        ([state, count]) => [`{state="${state}"}`, count] as const,
      ),
    },
    one("gauge", "process_resident_memory_bytes", "Memory in use.", memoryBytes),
    one("gauge", "process_start_time_seconds", "When the server started.", startedAtMs / 1_000),
  ];
}

function writeMetric({ name, type, help, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
