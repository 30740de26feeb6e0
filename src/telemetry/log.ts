import { maskedPath } from "../http/masked-path.ts";
import type { LogFields } from "../platform/context.ts";

/** What stands in JSON as it is, between quotes. Of all else `JSON.stringify` knows how it is written. */
const NOT_PLAIN = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return NOT_PLAIN.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** A value as JSON; undefined for one that JSON leaves out. */
function jsonOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "number":
      return Number.isFinite(value) ? `${value}` : "null";
    case "boolean":
      return value ? "true" : "false";
    default:
      return JSON.stringify(value);
  }
}

/** By field, what stands before its value. The fields are the program's own: there are few. */
const beginnings = new Map<string, string>();

/** `,"first_token_ms":` of `firstTokenMs`. */
function beginningOf(name: string): string {
  let beginning = beginnings.get(name);
  if (beginning === undefined) {
    beginning = `,"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`;
    beginnings.set(name, beginning);
  }
  return beginning;
}

/** The fields as members of a JSON object that has others before them. */
function membersOf<Fields extends LogFields>(fields: Fields): string {
  let members = "";
  for (const name in fields) {
    if (name === "streaming") continue;
    const value = jsonOf(fields[name]);
    if (value !== undefined) members += beginningOf(name) + value;
  }
  return members;
}

let second = Number.NaN;
/** That second as text, without what follows the point. */
let secondText = "";

/** The time as `toISOString` writes it. Requests come many in a second: only the milliseconds are new. */
function timeText(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    secondText = new Date(second).toISOString().slice(0, -"000Z".length);
  }
  return `${secondText}${String(milliseconds).padStart(3, "0")}Z`;
}

/**
 * Writes the one structured log line of a request: no secrets, no content, no query string. It is the JSON of an object with
 * these members, written without the object: that takes a third of the time.
 */
export function logRequest(
  method: string,
  path: string,
  status: number,
  requestId: string,
  durationMs: number,
  fields: LogFields,
): void {
  const id = quoted(requestId);
  const asked = `"method":${quoted(method)},"path":${quoted(maskedPath(path))}`;
  const answered = `"status":${status},"duration_ms":${jsonOf(Math.round(durationMs))}`;
  console.log(`{"at":"${timeText()}","request_id":${id},${asked},${answered}${membersOf(fields)}}`);
}
