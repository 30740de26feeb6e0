import { describe, expect, it, test } from "vitest";
import type { RouteTarget } from "../../../../../src/core/conversation/model.ts";
import {
  appendFallbacks,
  readRequestControls,
} from "../../../../../src/gateway/generation/preparation/request-controls.ts";
import { BodyReader } from "../../../../support/body-reader.ts";
import { GenerationRun } from "../../../../support/generation-run.ts";
import { pass, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { beginsThen, events, says } from "../../../../support/upstream-scripts.ts";

const read = (headers: Record<string, string>) => readRequestControls(new Headers(headers));

describe("the headers with which a caller controls its request", () => {
  it("have no effect unless they are sent", async () => {
    expect(await read({})).toEqual({ fallbackNames: [] });
  });

  it("contain milliseconds, a number of retries, and names", async () => {
    const headers = {
      "x-gateway-timeout": "2500",
      "x-gateway-retries": "0",
      "x-gateway-fallback": "best, vllm/qwen3:8b,,best",
    };
    expect(await read(headers)).toEqual({
      startDeadline: expect.any(Function),
      maxRetries: 0,
      fallbackNames: ["best", "vllm/qwen3:8b"],
    });
  });

  const manyNames = Array.from({ length: 11 }, (_, index) => `m${index}`).join();
  test.each([
    ["x-gateway-timeout", "0"],
    ["x-gateway-timeout", "3600001"],
    ["x-gateway-timeout", "1e3"],
    ["x-gateway-timeout", "30s"],
    ["x-gateway-timeout", "1000, 2000"],
    ["x-gateway-timeout", ""],
    ["x-gateway-retries", "-1"],
    ["x-gateway-retries", "1.5"],
    ["x-gateway-retries", "101"],
    ["x-gateway-retries", "99999999999999999999"],
    ["x-gateway-fallback", manyNames],
  ])("are a 400 that names the header if invalid: %s, %j", async (name, value) => {
    await expect(read({ [name]: value })).rejects.toMatchObject({ status: 400, param: name });
  });
});

describe("fallback models", () => {
  const target = (id: string, weight?: number): RouteTarget => ({
    model: { id, upstream: id, thinking: false, search: false, vision: false },
    ...(weight === undefined ? {} : { weight }),
  });
  const names = (targets: readonly RouteTarget[]) => targets.map(({ model: { id } }) => id);

  it("follow the targets of the requested name, each once", () => {
    expect(
      names(appendFallbacks([target("a"), target("b")], [target("b"), target("c"), target("c")])),
    ).toEqual(["a", "b", "c"]);
  });

  it("get no share of the conversations beside targets with weights", () => {
    expect(appendFallbacks([target("a", 2)], [target("c", 9)])).toEqual([target("a", 2), target("c", 0)]);
  });
});

describe("a request with x-gateway-timeout", () => {
  const createGateway = useMemoryGateway();
  const headers = { "x-gateway-timeout": "3000" };
  const TIMEOUT = { status: 504, code: "request_timeout" };

  test.each(["complete", "stream"] as const)(
    "fails after that time if nothing arrived (%s), on one account",
    async (way) => {
      const gateway = await createGateway({ turns: ["hang", says("Never")] });
      const run = new GenerationRun(gateway, { headers });
      const failed = expect(run[way]()).rejects.toMatchObject(TIMEOUT);
      await pass(2_999);
      expect(run.outcomes).toEqual([]);
      await pass(1);
      await failed;
      expect(run.outcomes).toMatchObject([{ status: "error", statusCode: 504, code: "request_timeout" }]);
      expect(gateway.turns).toHaveLength(1);
      expect(gateway.turns[0]?.outcome).toBe("cancelled");
      // The caller's hurry is no account's fault, and no slot is left.
      expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [], in_use: 0 });
    },
  );

  it("limits the time of a whole answer", async () => {
    const gateway = await createGateway({ turns: [beginsThen("Begun.", "silence")] });
    const failed = expect(new GenerationRun(gateway, { headers }).complete()).rejects.toMatchObject(TIMEOUT);
    await pass(3_000);
    await failed;
  });

  it("does not limit a stream that has begun", async () => {
    const gateway = await createGateway({ turns: [beginsThen("Begun. ", "silence")] });
    const response = new GenerationRun(gateway, { headers }).stream();
    await pass(3_000);
    const reader = new BodyReader(await response);
    await pass(30_000);
    expect(reader.text).toContain("Begun.");
    expect(reader.text).not.toContain("!");
    await pass(30_000);
    expect(reader.text).toContain("!upstream_timeout");
  });

  it("does not count hidden reasoning as output", async () => {
    const [start = "", reasoning = ""] = events({ reasoning: "Hm.", text: "Hi", chunks: 1 });
    const gateway = await createGateway({ turns: [{ body: [start, reasoning, "silence"] }] });
    const run = new GenerationRun(gateway, { headers, conversation: { showReasoning: false } });
    const failed = expect(run.stream()).rejects.toMatchObject(TIMEOUT);
    await pass(3_000);
    await failed;
  });
});
