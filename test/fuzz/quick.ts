/** The cheapest tests of the tool scanner, without a test runner: exits with 1 at the first failure. */
import { cases, truncated } from "../unit/gateway/tools/corpus.ts";
import { properties } from "../unit/gateway/tools/properties.ts";
import { chunks, leftOut, scanPieces, scanWhole } from "../unit/gateway/tools/support.ts";

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}

for (const { name, input, text, calls, tools, whole = { text, calls } } of cases) {
  const wanted = JSON.stringify({ text, calls });
  for (const size of [input.length, 1, 7]) {
    if (JSON.stringify(scanPieces(chunks(input, size), tools)) !== wanted)
      fail(`${name}, in pieces of ${size}`);
  }
  const entire = JSON.stringify(scanWhole(input, tools));
  if (entire !== JSON.stringify({ ...whole, calls: whole.calls.map(leftOut) })) fail(`${name}, as a whole`);
}
for (const { name, input, text, calls, tools, off = { text, calls } } of truncated) {
  for (const size of [input.length, 1]) {
    if (JSON.stringify(scanPieces(chunks(input, size), tools, false, true)) !== JSON.stringify(off))
      fail(`${name}, cut off, in pieces of ${size}`);
  }
}
for (const { name, check } of properties) {
  const failure = check(1, 200);
  if (failure) fail(`${name}: ${failure.reason}`);
}
