import { ToolScanner } from "../src/gateway/tools/tool-scanner.ts";

/** Throughput of the tool-call scanner: megabytes (10^6 characters) per second, by kind of text and chunk size. */

const tools = [
  {
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
  },
];

const prose =
  "The scanner reads what a model writes, token by token, and passes plain text on at once. Most lines look like this one.\n" +
  "Some are short.\n\nOthers name `code` or make *a point*, and a few hold numbers such as 3.14 or 2,048.\n";
const brackets =
  'if (a < b && c << 2) { x = <div class="y"><p>z</p></div>; } <<EOF <tool> </tool> <|end|> 1 < 2\n';
const call =
  '<|TCML|tool_calls>\n<|TCML|invoke name="write">\n<|TCML|parameter name="path">src/main.ts</|TCML|parameter>\n' +
  `<|TCML|parameter name="content"><![CDATA[${"export const answer = [1, 2].map((n) => n * 21);\n".repeat(40)}]]></|TCML|parameter>\n` +
  "</|TCML|invoke>\n</|TCML|tool_calls>\n";

const texts = { "plain text": prose, "text full of <": brackets, "tool calls": call };
const sizes = [4, 64, 4096];

function pieces(text, total, size) {
  const whole = text.repeat(Math.ceil(total / text.length));
  const list = [];
  // Flat strings without shared memory, as a decoder returns them.
  for (let at = 0; at < total; at += size)
    list.push(Buffer.from(whole.slice(at, at + size)).toString("latin1"));
  return list;
}

function measure(list) {
  const scanner = new ToolScanner({ tools });
  let seen = 0;
  const start = performance.now();
  for (const piece of list) seen += scanner.push(piece).length;
  seen += scanner.finish().length;
  const seconds = (performance.now() - start) / 1000;
  if (seen === 0) throw new Error("nothing came out");
  return seconds;
}

/**
 * @param {{ characters?: number, rounds?: number }} [options]
 * @returns {Promise<{ name: string, value: number, unit: string }[]>} one row for each text and size: the best of the
 *   rounds
 */
export async function run({ characters = 4_000_000, rounds = 5 } = {}) {
  const rows = [];
  for (const [name, text] of Object.entries(texts)) {
    for (const size of sizes) {
      const list = pieces(text, characters, size);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) best = Math.min(best, measure(list));
      const value = Math.round((characters / best / 1e6) * 10) / 10;
      rows.push({ name: `scanner: ${name}, pieces of ${size}`, value, unit: "MB/s" });
    }
  }
  return rows;
}

if (import.meta.main)
  for (const { name, value, unit } of await run())
    console.log(`${name.padEnd(44)} ${String(value).padStart(8)} ${unit}`);
