/**
 * An aligned markdown table. A column in which every cell is a number is set to the right, and its
 * numbers get thousands separators.
 */
export function table(headers: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const numeric = headers.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  const texts = rows.map((row) => headers.map((_, column) => cellText(row[column])));
  const widths = headers.map((header, column) =>
    Math.max(3, header.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, numeric[column] ?? false)).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    numeric[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  return `${[line(headers), line(rule), ...texts.map(line)].join("\n")}\n`;
}

function cellText(cell: string | number | undefined): string {
  if (typeof cell !== "number") return cell ?? "";
  // Large numbers carry no meaning behind the point, small ones do.
  return cell.toLocaleString("en-US", { maximumFractionDigits: Math.abs(cell) < 100 ? 2 : 0 });
}

function pad(text: string, width: number, right: boolean): string {
  return right ? text.padStart(width) : text.padEnd(width);
}
