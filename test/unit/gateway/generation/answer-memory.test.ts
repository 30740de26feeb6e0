import { expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { says } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const LONG = "x".repeat(300_000);
/** The share for callers without a key is too small for twice that text. */
const env = { BODY_BUDGET_BYTES: "2000000" };

const asking = (stream: boolean) => ({
  model: "gpt-4o",
  stream,
  messages: [{ role: "user", content: "Hi" }],
});

test("without memory, the answer of a caller without a key ends, and that of a caller with a key continues", async () => {
  const gateway = await createGateway({ env, turns: [says(LONG, { chunks: 10 })] });
  const ask = (key: string, stream: boolean) =>
    gateway.post("/v1/chat/completions", asking(stream), { headers: { authorization: `Bearer ${key}` } });
  const whole = await ask("a-token", false);
  expect([whole.status, await whole.text()]).toEqual([503, expect.stringContaining('"overloaded"')]);
  expect(await (await ask("a-token", true)).text()).toContain('"overloaded"');
  const own = await ask(KEY, true);
  expect(await own.text()).toContain("[DONE]");
  const again = await gateway.post("/v1/chat/completions", asking(false));
  expect(await again.text()).toContain(LONG);
});
