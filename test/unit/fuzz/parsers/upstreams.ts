import { isObject } from "../../../../src/core/encoding/json.ts";
import { ProviderError } from "../../../../src/core/errors/provider-error.ts";
import type { Fetch } from "../../../../src/core/ports/upstream.ts";
import { DRIVER_NAMES, getDriver } from "../../../../src/gateway/providers/drivers.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { sessionsScript } from "../../../support/upstream-scripts.ts";
import { UPSTREAM_ANSWERS } from "../corpus/http.ts";
import { bytesOf, cut, only, type Target, target } from "../target.ts";
import { FuzzedGateway } from "./gateway.ts";
import { headersOf, messageIn } from "./messages.ts";

const COST = 10;

/** An upstream that answers a text to requests whose path has what the text names, and the others as it should. */
function answering(text: string): Fetch {
  const message = messageIn(text);
  const [code = "", path = ""] = message.first.split(" ");
  const healthy = new ScriptedUpstream(sessionsScript()).through(null);
  return async (url, init) => {
    if (!new URL(url).pathname.includes(path)) return healthy(url, init);
    const status = Number(code);
    const isStatus = Number.isInteger(status) && status >= 200 && status <= 599;
    const hasBody = !/^(?:204|205|304)$/.test(code);
    return new Response(hasBody ? bytesOf(message.body) : null, {
      status: isStatus ? status : 200,
      headers: headersOf(message),
    });
  };
}

const CHAT = { model: "provider-v4-flash", messages: [{ role: "user", content: "hello" }] };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };

/** What is asked of the gateway when an upstream answers so. */
function requestFor(text: string): Request {
  const headers = { authorization: "Bearer sk-test", "content-type": "application/json" };
  const post = (path: string, body: object) =>
    new Request(`http://gateway.test${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const { first } = messageIn(text);
  if (first.includes("mbed")) return post("/v1/embeddings", { model: "provider-embed", input: ["a", "b"] });
  if (first.endsWith("/models")) return new Request("http://gateway.test/v1/models", { headers });
  const tools = text.length % 3 === 0 ? { tools: [TOOL] } : {};
  return post("/v1/chat/completions", { ...CHAT, ...tools, stream: text.length % 2 === 0 });
}

/** Whatever an upstream answers, the caller gets an answer or the reason why there is none. */
const replies = DRIVER_NAMES.map((driver) =>
  target(
    `answers of an upstream, ${driver}`,
    [...(UPSTREAM_ANSWERS[driver] ?? []), ...(UPSTREAM_ANSWERS["all"] ?? [])],
    async (input) => {
      const fetch = answering(input);
      const env = { PROVIDER_DRIVER: driver, FIRST_BYTE_TIMEOUT_MS: "2000", IDLE_TIMEOUT_MS: "2000" };
      const config = { embeddings: { provider: "default" } };
      const gateway = await FuzzedGateway.open({ env, config }, { upstreamFetch: () => fetch });
      await gateway.ask(requestFor(input));
    },
    { cost: COST },
  ),
);

/** A whole answer gives the same events however it is cut, with finite numbers, and fails with nothing but the provider's error. */
const wholeAnswers = DRIVER_NAMES.map((driver) =>
  target(
    `whole answers, ${driver}`,
    (UPSTREAM_ANSWERS[driver] ?? []).map((text) => messageIn(text).body),
    async (input) => {
      const decode = (pieces: readonly Uint8Array[]) =>
        only([ProviderError], () => {
          const decoder = getDriver(driver).createCaptureDecoder("application/json");
          const events = pieces.flatMap((piece) => [...decoder.push(piece)]);
          return [...events, ...decoder.finish()];
        });
      const bytes = bytesOf(input);
      const whole = await decode([bytes]);
      const plain = (events: unknown) => JSON.stringify(events)?.replace(/"(?:id|callId)":"[^"]*"/g, "");
      if (plain(await decode(cut(bytes))) !== plain(whole)) throw new Error("it depends on cuts");
      for (const event of whole ?? []) {
        if (event.type !== "usage") continue;
        for (const count of Object.values(event.usage)) {
          if (isObject(count) || !Number.isFinite(count) || count < 0) throw new Error(`a count is ${count}`);
        }
      }
    },
  ),
);

const FILES: readonly string[] = [
  '{"id":"f1","bytes":5,"created_at":1800000000,"expires_at":1800003600,"filename":"a","purpose":"b","status":"error"}',
  '{"id":"f1","size_bytes":5,"created_at":"2027-01-15T08:00:00Z","expires_at":null,"filename":"a"}',
  '{"file":{"name":"files/f1","sizeBytes":"5","createTime":"2027-01-15T08:00:00Z","state":"FAILED","uri":"https://a/f1"}}',
];

/** A file that an upstream describes has an id and finite numbers, or the description is refused. */
const files = DRIVER_NAMES.map((driver) =>
  target(`files, ${driver}`, FILES, async (input) => {
    const { files: operations } = getDriver(driver).create({
      ...{
        baseUrl: "http://upstream.test/v1",
        token: "t",
        models: {},
        toolCalls: "native",
        wholeAnswers: true,
      },
      ...{ newId: () => "id", sleep: async () => undefined },
    });
    const account = { token: "a-secret-token", fetch: async () => new Response(bytesOf(input)) };
    const read = async () => operations?.read(account, "f1", new AbortController().signal);
    const file = await only([ProviderError], read);
    if (file === undefined) return;
    const { id, bytes, createdAt, expiresAt = 0 } = file;
    if (id === "" || ![bytes, createdAt, expiresAt].every((n) => Number.isFinite(n) && n >= 0)) {
      throw new Error(JSON.stringify(file));
    }
  }),
);

export const upstreamTargets: readonly Target[] = [...replies, ...wholeAnswers, ...files];
