import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SMALL_REQUESTS, type SmallRequest } from "../../support/dialect-requests.ts";
import { useMemoryGateway } from "../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";
import { completionsScript, sessionsScript } from "../../support/upstream-scripts.ts";

const make = useMemoryGateway();

/**
 * The requests and answers of such deployments before there could be several providers, recorded by this test, without the
 * headers that browsers may read. A change that alters an answer on purpose changes it there, too.
 */
const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../fixtures/default-deployment.json"), "utf8"),
);

/** Deployments whose variables name the provider, and no more. */
const DEPLOYMENTS = {
  sessions: { env: {}, script: sessionsScript },
  openai: {
    env: {
      PROVIDER_DRIVER: "openai",
      PROVIDER_NATIVE: "false",
      PROVIDER_TOKEN: "sk-backend",
      PROVIDER_MODELS: '{"provider-v4-flash":"m"}',
    },
    script: completionsScript,
  },
} as const;

const streamed = ({ path, body }: SmallRequest): SmallRequest =>
  path.includes(":generateContent")
    ? { path: `${path.replace(":generateContent", ":streamGenerateContent")}?alt=sse`, body }
    : { path, body: { ...body, stream: true } };

/** Ids are made up each time. */
const withoutIds = (text: string) =>
  text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, "<uuid>")
    .replaceAll(/[\da-f]{24,}/g, "<id>");

const headersOf = (headers: Iterable<[string, string]>) =>
  [...headers]
    .filter(([field]) => field !== "access-control-expose-headers" && field !== "x-gateway-path")
    .map(([field, value]) => `${field}: ${withoutIds(value)}`)
    .sort();

describe.each(Object.entries(DEPLOYMENTS))(
  "a deployment by variables alone (%s)",
  (name, { env, script }) => {
    const requests = Object.entries(SMALL_REQUESTS).flatMap(([dialect, request]) => [
      { dialect, way: "whole", request },
      { dialect, way: "stream", request: streamed(request) },
    ]);

    it.each(requests)(
      "sends and answers as before there were several providers: $dialect, $way",
      async (each) => {
        const { dialect, way, request } = each;
        const upstream = new ScriptedUpstream(script());
        const gateway = await make({ env, upstream });
        const response = await gateway.post(request.path, request.body);
        const text = withoutIds(await response.text());
        await gateway.settle();
        const asked = upstream.asked.map(({ method, path, headers, body }) =>
          withoutIds(`${method} ${path} ${JSON.stringify([...headers].sort())} ${body}`),
        );
        const said = { status: response.status, headers: headersOf(response.headers), text, asked };
        expect(said).toEqual(RECORDED[`${name} ${dialect} ${way}`]);
      },
    );
  },
);
