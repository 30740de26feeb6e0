import { expect, it } from "vitest";
import { UNKNOWN_HOST, unknownHostFilter } from "../../../scripts/unknown-host-filter.mjs";

const MESSAGE = `\u001b[31m✘ [ERROR] e = rust/worker/ffi.rs:110: failed: failed to lookup address information: Name or service not known\u001b[0m

  stack: /bin/workerd@34dcea9 /bin/workerd@26b6840; sentryErrorContext = jsgInternalError; wdErrId = uqq1

`;

it("npm start prints one sentence for a host name that does not exist, and everything else unchanged", () => {
  let now = 0;
  const filter = unknownHostFilter(() => now);
  const shown = (...pieces: string[]) => pieces.map((piece) => String(filter(Buffer.from(piece)))).join("");
  const at = MESSAGE.indexOf("  stack:");
  expect(shown("before\n", `${MESSAGE}after\n`)).toBe(`before\n${UNKNOWN_HOST}\nafter\n`);
  now = 5_000;
  expect(shown(MESSAGE, "a retry\n\nand more\n")).toBe("a retry\n\nand more\n");
  now = 20_000;
  expect(shown(MESSAGE.slice(0, at), MESSAGE.slice(at), "later\n")).toBe(`${UNKNOWN_HOST}\nlater\n`);
  const bytes = Buffer.from([0xe2, 0x9c]);
  expect(filter(bytes)).toBe(bytes);
});
