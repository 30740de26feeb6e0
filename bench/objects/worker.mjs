// Sends the objects what the program sends them; see ../objects.mjs.
import { DurableObject } from "cloudflare:workers";
import { UsageTally } from "../../src/usage/tally.ts";
import { historyMessage, packedMessage, response, summary } from "./messages.mjs";

export { Administration } from "../../durable-objects/administration.ts";
export { History } from "../../durable-objects/history.ts";
export { RateLimiter } from "../../durable-objects/rate-limiter.ts";
export { ResponseStore } from "../../durable-objects/response-store.ts";
export { Usage } from "../../durable-objects/usage.ts";

/** Takes everything in and does nothing. */
export class Nothing extends DurableObject {
  take() {
    return null;
  }
}

/** An isolate that serves 100 requests a second tells of 50 of them every half second. */
const REQUESTS = 50;
/** Isolates that take turns: as many messages are under way at once. */
const ISOLATES = 8;

const config = { config: { prices: {}, providers: [] } };

/** Usage of an isolate. `groups`: how many different ones its requests make. */
function usage(groups) {
  const tallies = Array.from({ length: ISOLATES }, () => new UsageTally());
  return async (send, n) => {
    const tally = tallies[n % ISOLATES];
    for (let request = 0; request < REQUESTS; request += 1) {
      const group = groups === REQUESTS ? (n * REQUESTS + request) % 10_000 : request % groups;
      const { key, requested_model, model, account } = summary(n, request);
      tally.count(
        {
          key: groups === REQUESTS ? `key_${group % 50}` : key,
          requested_model,
          model,
          provider: "openai",
          account: groups === REQUESTS ? `${group}@example.com` : `${group}${account}`,
          dialect: "chat-completions",
          operation: "chat",
          outcome: "success",
          status: 200,
          code: "",
          promptTokens: 900 + request,
          cachedTokens: 0,
          completionTokens: 200 + request,
          reasoningTokens: 0,
          attempts: 1,
          durationMs: 500 + request * 7,
          firstTokenMs: 200 + request,
          queueMs: 3,
        },
        Date.now(),
      );
    }
    await tally.send({ write: send }, config, Date.now());
  };
}

const main =
  (binding, name = "main") =>
  (env) =>
    env[binding].getByName(name);
const history = (name, keep) => ({
  name,
  requests: REQUESTS,
  times: 200,
  object: main("HISTORY", name),
  method: "write",
  act: (send, n) => send(historyMessage(n, REQUESTS, keep)),
});
const packed = (name, keep) => ({
  ...history(name, keep),
  method: "writePacked",
  act: (send, n) => send(...packedMessage(n, REQUESTS, keep)),
});

const KINDS = [
  history("history: 50 begun, 50 ended, 200 are kept", 200),
  history("history: the same, 10,000 are kept", 10_000),
  packed("history with a bucket: the same, 200 are kept", 200),
  packed("history with a bucket: the same, 10,000 are kept", 10_000),
  {
    name: "usage: 50 requests in 5 groups",
    requests: REQUESTS,
    times: 200,
    object: main("USAGE", "few"),
    method: "write",
    act: usage(5),
  },
  {
    name: "usage: 50 requests in 50 of 10,000 groups",
    requests: REQUESTS,
    times: 200,
    object: main("USAGE", "many"),
    method: "write",
    act: usage(REQUESTS),
  },
  {
    name: "stored responses: one of 8,000 characters is put",
    requests: 1,
    times: 1_000,
    object: main("RESPONSE_STORE", "one caller"),
    method: "put",
    act: (send, n) => send(response(n)),
  },
  {
    name: "stored responses: one is read",
    requests: 1,
    times: 1_000,
    object: main("RESPONSE_STORE", "one caller"),
    method: "get",
    act: (send, n) => send(response(n).id),
  },
  {
    name: "page service: a call of one client is counted",
    requests: 1,
    times: 1_000,
    object: main("RATE_LIMITER", "one client"),
    method: "take",
    act: (send) => send(100_000),
  },
  {
    name: "page service: a call of one client is refused",
    requests: 1,
    times: 1_000,
    object: main("RATE_LIMITER", "one client"),
    method: "take",
    act: (send) => send(1),
  },
  {
    name: "administration: a sign-in from one address",
    requests: 0,
    times: 1_000,
    object: main("ADMINISTRATION", "login"),
    method: "attempt",
    act: (send) => send(),
  },
];

let sent = 0;

export default {
  async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    const kind = KINDS.find(({ name }) => name === searchParams.get("kind"));
    if (kind === undefined) {
      return Response.json(KINDS.map(({ name, requests, times }) => ({ name, requests, times })));
    }
    const isReal = searchParams.get("target") === "real";
    const object = isReal ? kind.object(env) : env.NOTHING.getByName("nothing");
    const method = isReal ? kind.method : "take";
    const send = (...message) => object[method](...message);
    const times = Number(searchParams.get("times"));
    for (let n = 0; n < times; n += ISOLATES) {
      const turns = Array.from({ length: Math.min(ISOLATES, times - n) }, () => kind.act(send, sent++));
      await Promise.all(turns);
    }
    return new Response();
  },
};
