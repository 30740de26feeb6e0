const format = (value, digits, unit) => (Number.isFinite(value) ? `${value.toFixed(digits)} ${unit}` : "–");

const COLUMNS = [
  ["CPU per request", (row) => format(row.cpuMs, 3, "ms")],
  ["requests/s", (row) => format(row.perSecond, 0, "")],
  ["answer", (row) => format(row.totalMs, 2, "ms")],
  ["first chunk", (row) => format(row.firstMs, 2, "ms")],
  ["chunk lag", (row) => format(row.lagMs, 2, "ms")],
  ["lag p99", (row) => format(row.lagP99Ms, 2, "ms")],
];

/** Prints one workload's rows as a table. */
export function printWorkload(name, rows) {
  const width = 22;
  console.log(`\n${name}`);
  console.log(" ".repeat(width) + COLUMNS.map(([title]) => title.padStart(16)).join(""));
  for (const row of rows) {
    console.log(row.subject.padEnd(width) + COLUMNS.map(([, cell]) => cell(row).padStart(16)).join(""));
  }
}

/**
 * @typedef {object} Aim
 * @property {string} name
 * @property {number} value
 * @property {number} aim the most that it may be
 * @property {string} unit
 */

/** Prints what was aimed at, what was measured, and whether that is enough. */
export function printAims(aims) {
  console.log("\naims, all against the same run");
  for (const { name, value, aim, unit } of aims) {
    const met = value <= aim ? "met" : "NOT MET";
    console.log(`  ${name.padEnd(62)} ${value.toFixed(2).padStart(8)} ${unit} (at most ${aim})  ${met}`);
  }
}
