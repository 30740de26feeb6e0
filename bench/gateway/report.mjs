const format = (value, digits, unit) => (Number.isFinite(value) ? `${value.toFixed(digits)} ${unit}` : "–");

const COLUMNS = [
  ["CPU per request", (row) => format(row.cpuMs, 3, "ms")],
  ["requests/s", (row) => format(row.perSecond, 0, "")],
  ["answer", (row) => format(row.totalMs, 2, "ms")],
  ["first chunk", (row) => format(row.firstMs, 2, "ms")],
  ["first p99", (row) => format(row.firstP99Ms, 1, "ms")],
  ["chunk lag", (row) => format(row.lagMs, 2, "ms")],
  ["lag p99", (row) => format(row.lagP99Ms, 1, "ms")],
  ["latest", (row) => format(row.lagMaxMs, 0, "ms")],
];

/**
 * Prints one workload's rows as a table.
 *
 * @param {number} others share of the machine's CPU time that other processes used
 */
export function printWorkload(name, rows, others) {
  const width = 22;
  console.log(`\n${name} (others had ${(others * 100).toFixed(0)} % of the machine)`);
  console.log(" ".repeat(width) + COLUMNS.map(([title]) => title.padStart(15)).join(""));
  for (const row of rows) {
    console.log(row.subject.padEnd(width) + COLUMNS.map(([, cell]) => cell(row).padStart(15)).join(""));
  }
}

/**
 * @typedef {object} Aim
 * @property {string} name
 * @property {number} value
 * @property {number} aim the maximum, or with `atLeast` the minimum
 * @property {string} unit
 * @property {boolean} atLeast
 */

/** Prints measured values and targets, as the table of docs/performance.md. */
export function printAims(aims) {
  console.log("\nagainst the same run\n\n| | measured | aim |\n| --- | --- | --- |");
  for (const { name, value, aim, unit, atLeast } of aims) {
    const digits = unit === "×" ? 2 : unit === "ms" ? 1 : 0;
    const measured = `${value.toFixed(digits)} ${unit}`.trim();
    const wanted = `${atLeast ? "at least " : ""}${aim} ${unit}`.trim();
    console.log(`| ${name} | ${measured} | ${wanted} |`);
  }
}
