import { expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import { accountOf } from "../../../support/upstream-scripts.ts";

const make = useMemoryGateway();
const MANY = 40;
/** How long a test of one account takes. */
const TEST_MS = 200;

const gatewayWithSlowAccounts = () =>
  make({
    env: { ADMIN_KEY: "admin" },
    config: { accounts: Array.from({ length: MANY }, (_, index) => accountNamed(`a${index}@test`)) },
    other: (asked) => {
      if (asked.path !== "/api/account") return undefined;
      const account = accountOf(asked);
      if (account === "a2@test") return { json: { error: { code: "account_suspended" } }, status: 403 };
      return { late: TEST_MS, reply: { json: { id: account, session_count: 0 } } };
    },
  });

const administrator = { authorization: "Bearer admin" };

async function json(answer: Promise<Response>): Promise<JsonObject> {
  const body: unknown = await (await answer).json();
  if (!isObject(body)) throw new Error("no object");
  return body;
}

const progressOf = (gateway: MemoryGateway) =>
  json(gateway.request("/admin/accounts/test-all/status", { headers: administrator }));
/** Lets time pass until the progress is as told. */
async function until(gateway: MemoryGateway, holds: (seen: JsonObject) => boolean): Promise<JsonObject> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    const seen = await progressOf(gateway);
    if (holds(seen)) return seen;
    await pass(TEST_MS / 4);
  }
  throw new Error("the test never came so far");
}
const start = (gateway: MemoryGateway, body: unknown = {}, signal?: AbortSignal) =>
  gateway.post("/admin/accounts/test-all", body, {
    headers: administrator,
    ...(signal !== undefined && { signal }),
  });

it("continues the test of all accounts after the client disconnects", async () => {
  const gateway = await gatewayWithSlowAccounts();
  const leaving = new AbortController();
  start(gateway, {}, leaving.signal).catch(() => undefined);
  await until(gateway, ({ running }) => running === true);
  leaving.abort();
  await gateway.settle();
  expect(await progressOf(gateway)).toMatchObject({ running: false, total: MANY, done: MANY, failed: 1 });
});

it("ends when it is cancelled, and can continue there", async () => {
  const gateway = await gatewayWithSlowAccounts();
  const run = start(gateway);
  await until(gateway, ({ running, done }) => running === true && Number(done) > 5);
  await gateway.request("/admin/accounts/test-all/cancel", { method: "POST", headers: administrator });
  await gateway.settle();
  const ended = await progressOf(gateway);
  const done = Number(ended["done"]);
  expect(ended["running"]).toBe(false);
  expect(done).toBeGreaterThan(5);
  expect(done).toBeLessThan(MANY);
  expect(Object(await json(run))["results"]).toHaveLength(done);

  const rest = start(gateway, { resume: true });
  await gateway.settle();
  expect(Object(await json(rest))["results"]).toHaveLength(MANY - done);
  expect(await progressOf(gateway)).toMatchObject({
    running: false,
    total: MANY,
    done: MANY,
    success: MANY - 1,
    failed: 1,
    failures: [{ account: "a2@test" }],
  });
  // There is nothing left to go on with: all are tested anew.
  const again = start(gateway, { resume: true });
  await gateway.settle();
  expect(Object(await json(again))["results"]).toHaveLength(MANY);
});

it("tests only the named accounts, in a run that cannot be continued", async () => {
  const gateway = await gatewayWithSlowAccounts();
  const run = start(gateway, { identifiers: ["a1@test", "a2@test", "gone@test"] });
  await gateway.settle();
  expect(await json(run)).toMatchObject({ total: 2, success: 1, failed: 1 });
  expect(await progressOf(gateway)).toMatchObject({ running: false, total: 2, done: 2, some: true });
  const all = start(gateway, { resume: true });
  await gateway.settle();
  expect(Object(await json(all))["results"]).toHaveLength(MANY);
});
