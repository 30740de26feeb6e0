// Decodes a saved sample of an upstream stream with the provider's decoder and prints one event per line.
//
//   npm run replay -- <file>             a sample as GET /admin/dev/raw-samples/{sample_id} returns it; - for standard input
//   npm run replay -- <sample id> --url http://127.0.0.1:8787 --key admin
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { replaySample } from "../src/gateway/captures/replay.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: "string" }, key: { type: "string", default: "admin" }, bytes: { type: "string" } },
});
const [name] = positionals;
if (name === undefined) {
  console.error("Which sample? npm run replay -- <file>, or <sample id> --url <gateway> --key <admin key>");
  process.exit(2);
}

async function read() {
  if (values.url === undefined) return JSON.parse(readFileSync(name === "-" ? 0 : name, "utf8"));
  const response = await fetch(new URL(`/admin/dev/raw-samples/${encodeURIComponent(name)}`, values.url), {
    headers: { authorization: `Bearer ${values.key}` },
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? `status ${response.status}`);
  return answer;
}

try {
  for (const round of replaySample(await read(), Number(values.bytes ?? 4096))) {
    console.log(JSON.stringify({ round: round.label, events: round.events.length }));
    for (const event of round.events) console.log(JSON.stringify(event));
    if (round.failure !== null) {
      console.log(JSON.stringify({ failure: round.failure.kind, message: round.failure.message }));
      process.exitCode = 1;
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
