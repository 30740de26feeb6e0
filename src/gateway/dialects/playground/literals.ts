/** Formats a JSON value as JavaScript source, indented by two spaces per level. */
export function javascriptLiteral(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, 2).replace(
    /^( *)"([A-Za-z_]\w*)":/gm,
    // The plain name `__proto__` would set the object's prototype.
    (_, space: string, name: string) => `${space}${name === "__proto__" ? '["__proto__"]' : name}:`,
  );
  return text.replaceAll("\n", `\n${" ".repeat(indent)}`);
}

/** Formats a JSON value as Python source. */
export function pythonLiteral(value: unknown, indent = 0): string {
  const inner = " ".repeat(indent + 4);
  const outer = " ".repeat(indent);
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((member) => `${inner}${pythonLiteral(member, indent + 4)},\n`).join("")}${outer}]`;
  }
  const members = Object.entries(value);
  if (members.length === 0) return "{}";
  const lines = members.map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(member, indent + 4)},\n`,
  );
  return `{\n${lines.join("")}${outer}}`;
}

/** Formats values as named arguments of a Python call, one per line. */
export function pythonArguments(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `    ${name}=${pythonLiteral(value, 4)},\n`)
    .join("");
}

/** Environment variable that the generated code reads instead of containing a key. */
export const KEY_VARIABLE = "POLYGATE_KEY";
