import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { parseObject } from "../../../src/core/encoding/json.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../support/memory-gateway.ts";
import { says } from "../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();
setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const MIB = 1024 * 1024;

const model = "provider-v4-flash";
const messages = [{ role: "user", content: "Hello" }];
/** A request of each style that forgets its body; a response repeats what it was asked, and is charged with it. */
const REQUESTS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { model, messages }],
  ["/v1/completions", { model, prompt: "Hello" }],
  ["/v1/messages", { model, messages, max_tokens: 9 }],
  [`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: "Hello" }] }] }],
  ["/api/chat", { model, messages }],
];

/** Values that nobody needs. */
const ballast = (count: number) => Array.from({ length: count }, () => ({}));

/** Lets time pass until the pool's status is so. */
async function reaches(gateway: MemoryGateway, wanted: { in_use: number; waiting: number }): Promise<void> {
  const status = () => gateway.platform.accounts.getStatus();
  const there = ({ in_use, waiting }: typeof wanted) =>
    in_use === wanted.in_use && waiting === wanted.waiting;
  for (let turn = 0; turn < 200 && !there(await status()); turn++) await pass(5);
  expect(await status()).toMatchObject(wanted);
}

/** A gateway of one slot, which is taken for good. */
async function busy(budget: number) {
  const gateway = await createGateway({
    turns: ["hang"],
    env: { BODY_BUDGET_BYTES: String(budget) },
    config: { runtime: { account_max_inflight: 1, global_max_inflight: 1, account_max_queue: 20 } },
  });
  void gateway.post("/v1/chat/completions", { model, messages });
  await reaches(gateway, { in_use: 1, waiting: 0 });
  return gateway;
}

describe.each([false, true])("requests that wait for an account, streamed: %s", (stream) => {
  it.each(REQUESTS)("to %s hold only the memory that their conversation needs", async (path, body) => {
    const gateway = await busy(16 * MIB);
    // Each costs 10 MiB to read.
    for (let sent = 1; sent <= 3; sent++) {
      void gateway.post(path, { ...body, stream, ignored: ballast(50_000) });
      await reaches(gateway, { in_use: 1, waiting: sent });
    }
    await pass(200_000);
  });

  it.each(REQUESTS)("to %s release their bodies", async (path, body) => {
    const gateway = await busy(256 * MIB);
    const text = JSON.stringify({ ...body, stream, ignored: ballast(100_000) });
    const send = async (waiting: number) => {
      void gateway.post(path, {}, { body: text });
      await reaches(gateway, { in_use: 1, waiting });
    };
    await send(1);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await send(2);
    await send(3);
    collectGarbage();
    // Two bodies take 12 MB when they are parsed.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3 * MIB);
    await pass(200_000);
  });
});

it("a continued response counts the memory of its stored conversation", async () => {
  const gateway = await createGateway({
    turns: [says("Hi."), "hang"],
    env: { BODY_BUDGET_BYTES: String(16 * MIB) },
  });
  const ask = (body: object) => gateway.post("/v1/responses", { model, ...body });
  const asked = ask({ input: "x".repeat(5 * MIB) });
  await pass(1_000);
  const { id } = parseObject(await (await asked).text());
  expect(id).toEqual(expect.any(String));
  void gateway.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "x".repeat(4 * MIB) }],
  });
  await reaches(gateway, { in_use: 1, waiting: 0 });
  const refused = await ask({ input: "And?", previous_response_id: id });
  expect([refused.status, parseObject(await refused.text())]).toMatchObject([
    503,
    { error: { code: "overloaded" } },
  ]);
  await pass(200_000);
});
