import { describe, expect, test } from "vitest";
import * as z from "zod";
import { MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../support/upstream-scripts.ts";

/** Traces and metrics of whole requests, as a collector gets them. */

const createGateway = useMemoryGateway();

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";

const attributesSchema = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])));
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: attributesSchema,
  status: z.object({ code: z.number() }),
});
const tracesSchema = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) })),
});
const metricsSchema = z.object({
  resourceMetrics: z.array(
    z.object({
      scopeMetrics: z.array(
        z.object({
          metrics: z.array(
            z.object({
              name: z.string(),
              histogram: z.object({
                dataPoints: z.array(z.object({ sum: z.number(), attributes: attributesSchema })),
              }),
            }),
          ),
        }),
      ),
    }),
  ),
});

const provider = (id: string, extra: object = {}) => ({
  id,
  driver: "openai",
  base_url: `http://${id}.test/v1`,
  token: `secret-of-${id}`,
  models: { m: {} },
  ...extra,
});
const CONFIG = {
  providers: [provider("broken"), provider("working", { trace_context: true }), provider("shut")],
  model_routes: { routed: ["broken/m", "working/m"] },
};
const refused: Reply = { status: 503, json: { error: { message: "overloaded" } } };
const speaks = completionsScript();

/** A gateway with a collector. */
async function traced(env: Readonly<Record<string, string>> = {}) {
  const received: { readonly path: string; readonly text: string }[] = [];
  const { platform, upstream, lines } = await createGateway({
    upstream: new ScriptedUpstream((asked) => (asked.host === "broken.test" ? refused : speaks(asked))),
    config: CONFIG,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.test",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
      ...env,
    },
  });
  const deploymentFetch = async (url: string, init?: RequestInit) => {
    const request = new Request(url, init);
    received.push({ path: new URL(url).pathname, text: await request.text() });
    return new Response("{}");
  };
  const gateway = new MemoryGateway({ ...platform, deploymentFetch }, upstream, lines);
  const textsOf = (path: string) => received.filter((each) => each.path === path).map(({ text }) => text);
  return {
    gateway,
    /** Sends a chat and reads its answer. Returns the status. */
    chat: async (model: string, headers: Readonly<Record<string, string>> = {}, more: object = {}) => {
      const body = { model, messages: [{ role: "user", content: "What I say stays here." }], ...more };
      const response = await gateway.post("/v1/chat/completions", body, {
        headers: { authorization: `Bearer ${KEY}`, ...headers },
      });
      await response.text();
      await gateway.settle();
      await pass(60_000);
      return response.status;
    },
    spans: () =>
      textsOf("/v1/traces")
        .flatMap((text) => tracesSchema.parse(JSON.parse(text)).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    metrics: () =>
      textsOf("/v1/metrics")
        .flatMap((text) => metricsSchema.parse(JSON.parse(text)).resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
    texts: () => received.map(({ text }) => text).join("\n"),
  };
}

const parent = (flags = "01") => ({ traceparent: `00-${TRACE}-${CLIENT_SPAN}-${flags}` });
const traceparents = (asked: readonly UpstreamRequest[], host: string) =>
  asked.filter((each) => each.host === host).map(({ headers }) => headers.get("traceparent"));

describe("a trace", () => {
  test("has a span of the request and one of each attempt", async () => {
    const { chat, spans, gateway, texts } = await traced();
    expect(await chat("routed", parent())).toBe(200);
    const [server, failed, answered, ...others] = spans();
    expect(others).toEqual([]);
    expect(server).toMatchObject({
      traceId: TRACE,
      name: "POST /v1/chat/completions",
      parentSpanId: CLIENT_SPAN,
      status: { code: 0 },
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": expect.anything(),
      },
    });
    expect(failed).toMatchObject({
      parentSpanId: server?.spanId,
      status: { code: 2 },
      attributes: { "gen_ai.provider.name": "broken", "error.type": expect.any(String) },
    });
    expect(failed?.attributes).not.toHaveProperty("gen_ai.usage.input_tokens");
    expect(answered).toMatchObject({
      name: "chat working/m",
      parentSpanId: server?.spanId,
      status: { code: 0 },
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "working",
        "gen_ai.usage.input_tokens": expect.anything(),
        "gen_ai.usage.output_tokens": expect.anything(),
        "polygate.account.hash": expect.stringMatching(/^[\da-f]{16}$/),
      },
    });
    expect(traceparents(gateway.upstream.asked, "working.test")).toEqual([
      `00-${TRACE}-${answered?.spanId}-01`,
    ]);
    expect(traceparents(gateway.upstream.asked, "broken.test")).toEqual([null]);
    expect(texts()).not.toMatch(/stays here|secret-of|sk-test/);
  });

  test.each([
    ["a caller's own trace that is not recorded", parent("00"), true],
    ["an invalid header", { traceparent: "00-nothing" }, false],
    ["no header", {}, false],
  ])("is sent for %s", async (_, headers, isContinued) => {
    const { chat, spans } = await traced();
    await chat("shut/m", headers);
    expect(spans()).toHaveLength(2);
    expect(spans()[0]?.traceId === TRACE).toBe(isContinued);
    expect(spans()[0]?.traceId).toMatch(/^[\da-f]{32}$/);
  });

  test("is not sent if callers decide about sampling and this one does not sample, but its metrics are", async () => {
    const { chat, spans, metrics } = await traced({ OTEL_TRACES_SAMPLER: "parentbased_always_on" });
    await chat("shut/m", parent("00"));
    expect(spans()).toEqual([]);
    expect(metrics()).not.toEqual([]);
  });

  test("is not created for probes", async () => {
    const { gateway, texts } = await traced();
    await (await gateway.request("/healthz")).text();
    await gateway.settle();
    await pass(60_000);
    expect(texts()).toBe("");
  });

  test("of a refused request has only the span of the request", async () => {
    const { chat, spans } = await traced();
    expect(await chat("nobody/none")).toBe(400);
    const [server, ...others] = spans();
    expect(others).toEqual([]);
    expect(server?.attributes).toMatchObject({ "http.route": "/v1/chat/completions" });
  });
});

test("sends metrics of the durations of requests and attempts, and of tokens", async () => {
  const { chat, metrics } = await traced();
  await chat("routed", parent(), { stream: true });
  const byName = Object.fromEntries(metrics().map(({ name, histogram }) => [name, histogram.dataPoints]));
  expect(byName).toMatchObject({
    "http.server.request.duration": [{ attributes: { "http.route": "/v1/chat/completions" } }],
    "gen_ai.client.operation.duration": [
      { attributes: { "gen_ai.provider.name": "broken", "error.type": expect.any(String) } },
      { attributes: { "gen_ai.provider.name": "working" } },
    ],
    "gen_ai.client.token.usage": [
      { attributes: { "gen_ai.token.type": "input" } },
      { attributes: { "gen_ai.token.type": "output" } },
    ],
  });
});
