import { beforeEach, describe, expect, it } from "vitest";
import { RefusedRequests } from "../../../../src/gateway/history/refused-requests.ts";
import type { RecordSource } from "../../../../src/records/telemetry/waiting-records.ts";

const MINUTE = 60_000;

describe("the refused requests of an isolate", () => {
  let sources: Set<RecordSource>;
  let updates: number;
  let refused: RefusedRequests;
  let now: number;
  let sleepers: { readonly until: number; readonly wake: () => void }[];
  beforeEach(() => {
    sources = new Set();
    updates = 0;
    now = 1_000_000;
    sleepers = [];
    const outbox = {
      record: (source: RecordSource) => {
        updates += 1;
        sources.add(source);
      },
    };
    refused = new RefusedRequests(outbox, (milliseconds) => {
      return new Promise((wake) => sleepers.push({ until: now + milliseconds, wake }));
    });
  });

  const refuse = (fields: { key?: string; model?: string; code?: string; tookMs?: number } = {}) => {
    const { key = "alice", model = "llama3.2", code = "model_not_found", tookMs = 3 } = fields;
    void refused.record(
      {
        created_at: now - tookMs,
        request_id: `req_${now}`,
        key,
        dialect: "chat-completions",
        requested_model: model,
        source: "",
        status_code: 400,
        error: `the model ${model} does not exist`,
        error_code: code,
      },
      now,
      tookMs,
    );
  };
  const records = () => [...sources].map((source) => source.write().summary);

  it("are one record for equal refusals of a minute, with their number", () => {
    for (let sent = 0; sent < 4; sent += 1) refuse();
    expect(records()).toMatchObject([
      { refusals: 4, requested_model: "llama3.2", status: "error", status_code: 400, key: "alice" },
    ]);
    now += MINUTE;
    refuse();
    expect(records().map(({ refusals }) => refusals)).toEqual([4, 1]);
  });

  it("are separate records for other keys, errors and models", () => {
    refuse();
    refuse({ key: "bob" });
    refuse({ code: "rate_limit_exceeded" });
    refuse({ model: "qwen3" });
    expect(records()).toHaveLength(4);
    expect(new Set(records().map(({ id }) => id)).size).toBe(4);
  });

  it("of a key with invented names become one record after the first five", () => {
    for (let sent = 0; sent < 1_000; sent += 1) refuse({ model: `invented-${sent}` });
    expect(records().map((record) => [record.requested_model, record.refusals])).toEqual([
      ...[0, 1, 2, 3, 4].map((n) => [`invented-${n}`, 1]),
      ["", 995],
    ]);
  });

  it("need few updates in a flood, and the last one follows within seconds", () => {
    for (let sent = 0; sent < 10_000; sent += 1) {
      now += 1;
      refuse();
    }
    expect(updates).toBeLessThan(10);
    now += 5_000;
    refuse();
    expect(records()).toMatchObject([{ refusals: 10_001 }]);
  });

  it("have their number within seconds of the last one, without another request", async () => {
    for (let sent = 0; sent < 300; sent += 1) refuse();
    const promptUpdates = updates;
    expect(sleepers.map(({ until }) => until)).toEqual([now + 5_000]);
    now += 5_000;
    for (const { wake } of sleepers.splice(0)) wake();
    await Promise.resolve();
    expect(updates).toBe(promptUpdates + 1);
    expect(records()).toMatchObject([{ refusals: 300 }]);
    refuse();
    expect(sleepers).toHaveLength(1);
  });

  it("get a later update although the request that should have made it has ended", () => {
    for (let sent = 0; sent < 10; sent += 1) refuse();
    sleepers = [];
    now += 5_001;
    refuse();
    expect(sleepers).toHaveLength(1);
  });

  it("are one record, too, if each was sent slowly", () => {
    for (let sent = 0; sent < 50; sent += 1) refuse({ tookMs: 2 * MINUTE });
    expect(records().map(({ refusals }) => refusals)).toEqual([50]);
  });

  it("of a few keys leave room for those of other keys", () => {
    for (let key = 0; key < 20; key += 1)
      for (let kind = 0; kind < 500; kind += 1) refuse({ key: `key-${key}`, code: `code-${kind}` });
    expect(records().filter(({ key }) => key === "key-0")).toHaveLength(10);
    for (let sent = 0; sent < 30; sent += 1) refuse({ key: `other-${sent}` });
    expect(records().filter(({ key }) => key.startsWith("other-"))).toHaveLength(30);
  });

  it("of thousands of keys are at most 100 records a minute", () => {
    for (let sent = 0; sent < 5_000; sent += 1) refuse({ key: `key-${sent}` });
    expect(records()).toHaveLength(100);
    now += MINUTE;
    refuse({ key: "late" });
    expect(records()).toHaveLength(101);
  });
});
