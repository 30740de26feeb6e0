/** Whether a name would be resolved away in an address, where nothing escapes it: `.` and `..` (WHATWG URL). */
export function isDots(name: string): boolean {
  return name === "." || name === "..";
}
