import { KEY_VARIABLE } from "../../../gateway/dialects/playground/literals.ts";
import type { WireRequest } from "../../../gateway/dialects/playground/types.ts";

/** Quotes a text for a shell, in single quotes. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Formats the request as a curl command. */
export function formatCurl(
  origin: string,
  { path, body }: WireRequest,
  headers: Readonly<Record<string, string>>,
): string {
  const lines = [
    `curl -N ${shellQuote(origin + path)}`,
    `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    "-H 'Content-Type: application/json'",
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    `-d ${shellQuote(JSON.stringify(body, null, 2))}`,
  ];
  return `${lines.join(" \\\n  ")}\n`;
}
