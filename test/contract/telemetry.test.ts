import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { startChatBackend } from "../support/chat-backend.ts";
import { serve } from "../support/local-server.ts";
import { useGateway } from "../support/use-gateway.ts";

const valueSchema = z.object({
  stringValue: z.string().optional(),
  intValue: z.number().optional(),
  arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string() })) }).optional(),
});
const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .transform((list) =>
    Object.fromEntries(
      list.map(({ key, value }) => [
        key,
        value.stringValue ?? value.intValue ?? value.arrayValue?.values.map(({ stringValue }) => stringValue),
      ]),
    ),
  );
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: attributesSchema,
  status: z.object({ code: z.number() }),
});
const tracesSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});
const metricsSchema = z.object({
  resourceMetrics: z.array(
    z.object({ scopeMetrics: z.array(z.object({ metrics: z.array(z.object({ name: z.string() })) })) }),
  ),
});

/** A collector in this process, which keeps what it is sent. */
async function startCollector() {
  const bodies: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[] =
    [];
  let status = 200;
  const { origin, close } = await serve(async (request, response) => {
    const body = await text(request);
    if (status === 200) bodies.push({ path: request.url ?? "", headers: request.headers, text: body });
    response.writeHead(status).end("{}");
  });
  return {
    url: origin,
    bodies,
    setStatus: (next: number) => {
      status = next;
    },
    spans: () =>
      bodies
        .filter(({ path }) => path === "/otlp/v1/traces")
        .flatMap(({ text }) => tracesSchema.parse(JSON.parse(text)).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    close,
  };
}

const collector = await startCollector();
const broken = await startChatBackend({ models: ["m"], says: "never", refuses: 503 });
const working = await startChatBackend({ models: ["m"], says: "It works." });
afterAll(async () => {
  await Promise.all([collector.close(), broken.close(), working.close()]);
});

const provider = (id: string, base_url: string, extra: object = {}) => ({
  id,
  driver: "openai",
  base_url,
  token: `secret-of-${id}`,
  models: { m: {} },
  ...extra,
});

const running = useGateway({
  vars: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20c2VjcmV0LWNvbGxlY3Rvcg%3D%3D",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "50",
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: ["sk-dev"],
      accounts: [
        { email: "one@sandbox.test", password: "sandbox" },
        { email: "two@sandbox.test", password: "sandbox" },
      ],
      providers: [
        provider("broken", broken.url),
        provider("working", working.url, { trace_context: true }),
        provider("shut", working.url),
      ],
      model_routes: { routed: ["broken/m", "working/m"] },
    }),
  },
  secrets: ["c2VjcmV0LWNvbGxlY3Rvcg"],
});

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";
const traced = (trace: string, flags = "01") => ({ traceparent: `00-${trace}-${CLIENT_SPAN}-${flags}` });

async function spansOf(trace: string, count: number) {
  await expect.poll(() => collector.spans().filter(({ traceId }) => traceId === trace)).toHaveLength(count);
  return collector.spans().filter(({ traceId }) => traceId === trace);
}

describe("traces", () => {
  it("have a span of the request, and one of each attempt with model, account, tokens and finish reason", async () => {
    await (await running.chat("What I say stays here.", {}, traced(TRACE))).text();
    const [server, attempt, ...others] = await spansOf(TRACE, 2);
    expect(others).toEqual([]);
    expect(server).toMatchObject({
      name: "POST /v1/chat/completions",
      kind: 2,
      parentSpanId: CLIENT_SPAN,
      status: { code: 0 },
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
      },
    });
    expect(attempt).toMatchObject({
      name: "chat provider-v4-flash",
      kind: 3,
      parentSpanId: server?.spanId,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "sessions",
        "gen_ai.request.model": "provider-v4-flash",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": expect.any(Number),
        "gen_ai.usage.output_tokens": expect.any(Number),
        "polygate.account.hash": expect.stringMatching(/^[\da-f]{16}$/),
      },
    });
  });

  it("show the failed attempt and the one that answered, whose provider alone receives the trace", async () => {
    const trace = "11111111111111111111111111111111";
    const answer = await running.chat("Hello", { model: "routed" }, traced(trace));
    expect(answer.status).toBe(200);
    await answer.text();
    const [server, failed, answered] = await spansOf(trace, 3);
    expect(failed).toMatchObject({
      parentSpanId: server?.spanId,
      status: { code: 2 },
      attributes: { "gen_ai.provider.name": "broken", "http.response.status_code": 503 },
    });
    expect(failed?.attributes["error.type"]).toEqual(expect.any(String));
    expect(failed?.attributes["gen_ai.usage.input_tokens"]).toBeUndefined();
    expect(answered).toMatchObject({
      parentSpanId: server?.spanId,
      status: { code: 0 },
      attributes: {
        "gen_ai.provider.name": "working",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
      },
    });
    expect(working.asked.at(-1)?.headers["traceparent"]).toBe(`00-${trace}-${answered?.spanId}-01`);
    expect(broken.asked.at(-1)?.headers["traceparent"]).toBeUndefined();
  });

  it("are not sent to a provider that must not receive them", async () => {
    await (await running.chat("Hello", { model: "shut/m" }, traced(TRACE))).text();
    expect(working.asked.at(-1)?.headers["traceparent"]).toBeUndefined();
  });

  it("of a client that does not sample are sent, too, and begin anew without a valid header", async () => {
    const unrecorded = "22222222222222222222222222222222";
    await (await running.chat("Hello", {}, traced(unrecorded, "00"))).text();
    await (
      await running.chat("Hello", {}, { traceparent: "00-not-a-trace-01", "x-request-id": "begins" })
    ).text();
    await expect
      .poll(() =>
        collector.spans().filter(({ kind, parentSpanId }) => kind === 2 && parentSpanId === undefined),
      )
      .not.toEqual([]);
    expect(await spansOf(unrecorded, 2)).toHaveLength(2);
  });

  it("state the error of a stream that broke after its headers were sent", async () => {
    const trace = "33333333333333333333333333333333";
    await (await running.chat("[[cut]]", { stream: true }, traced(trace))).text();
    const spans = await spansOf(trace, 2);
    for (const { attributes, status } of spans) {
      expect(status.code).toBe(2);
      expect(attributes["error.type"]).toEqual(expect.any(String));
    }
  });
});

it("sends metrics by the conventions, and no texts, names of accounts or secrets at all", async () => {
  await expect
    .poll(() =>
      collector.bodies
        .filter(({ path }) => path === "/otlp/v1/metrics")
        .flatMap(({ text }) => metricsSchema.parse(JSON.parse(text)).resourceMetrics)
        .flatMap(({ scopeMetrics }) =>
          scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
        ),
    )
    .toEqual(
      expect.arrayContaining([
        "http.server.request.duration",
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.server.time_to_first_token",
      ]),
    );
  for (const { headers, text } of collector.bodies) {
    expect(headers["authorization"]).toBe("Basic c2VjcmV0LWNvbGxlY3Rvcg==");
    expect(headers["content-type"]).toBe("application/json");
    expect(text).not.toMatch(/What I say|It works|sandbox\.test|secret-of|sk-dev/);
    expect(text).toContain("deployment.environment.name");
  }
});

it("repeats what the collector could not accept, and reports the result to administrators", async () => {
  const trace = "44444444444444444444444444444444";
  const status = async () =>
    (await running.fetch("/admin/telemetry", { headers: { authorization: "Bearer admin" } })).json();
  collector.setStatus(503);
  await (await running.chat("Hello", {}, traced(trace))).text();
  await expect.poll(status).toMatchObject({
    protocol: "http/json",
    traces: { endpoint: collector.url, last_error: "status 503" },
  });
  collector.setStatus(200);
  await spansOf(trace, 2);
  await expect.poll(status).toMatchObject({ traces: { dropped: 0, last_error: null } });
});
