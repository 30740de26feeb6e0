// Sends the program's messages to the Durable Objects; see ../objects.mjs.
import { DurableObject } from "cloudflare:workers";
import { Alerts as Watch } from "../../durable-objects/alerts.ts";
import { UsageTally } from "../../src/records/usage/usage-tally.ts";
import { alert, captureOf, historyMessage, jobOf, packedMessage, response, summary } from "./messages.mjs";

export { AccountPool } from "../../durable-objects/account-pool.ts";
export { Administration } from "../../durable-objects/administration.ts";
export { BrowserSession } from "../../durable-objects/browser-session.ts";
export { Configuration } from "../../durable-objects/configuration.ts";
export { History } from "../../durable-objects/history.ts";
export { PageJobs } from "../../durable-objects/page-jobs.ts";
export { RateLimiter } from "../../durable-objects/rate-limiter.ts";
export { ResponseStore } from "../../durable-objects/response-store.ts";
export { Usage } from "../../durable-objects/usage.ts";

/** Runs rounds of alert checks without pauses. */
export class Alerts extends Watch {
  async round() {
    await this.alarm();
  }
}

/** Receives messages and does nothing. */
export class Nothing extends DurableObject {
  take() {
    return null;
  }
}

/** An isolate with 100 requests per second reports 50 of them every half second. */
const REQUESTS = 50;
/** Number of simulated isolates, and of messages in flight. */
const ISOLATES = 8;

const config = { config: { prices: {}, providers: [] } };

/** Usage of an isolate. `groups`: number of different groups. */
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

/** Pages per job. */
const PAGES = 10;

/** Runs the jobs of one client. `send` calls `create`. */
async function wholeJob(send, n, env) {
  const client = `client ${n % ISOLATES}`;
  const made = await send(jobOf(n, PAGES, client));
  if (made === null) return;
  const object = env.PAGE_JOBS.getByName(client);
  for (;;) {
    const state = await object.get(made.id);
    const failed = state.tasks.find(({ status }) => status === "failed");
    if (failed !== undefined) throw new Error(JSON.stringify(failed));
    if (state.finishedAt !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const FAULT = { status: 400, code: "url_invalid", message: "no" };
/** A job for read requests. */
let known;

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
  {
    name: "page service: a picture of a page of 40 requests",
    requests: 1,
    times: 160,
    object: main("BROWSER_SESSION", "browser-0"),
    method: "capture",
    act: async (send, n) => {
      const answer = await send(captureOf(n), `client ${n % ISOLATES}`);
      if (answer?.ok === false) throw new Error(JSON.stringify(answer.failure));
    },
  },
  {
    name: "page service: a job of 10 pages is noted",
    requests: PAGES,
    times: 400,
    object: main("PAGE_JOBS", "one client"),
    method: "create",
    act: (send, n) => send(jobOf(n, PAGES, "one client", FAULT)),
  },
  {
    name: "page service: a job of 10 pages is asked for",
    requests: 1,
    times: 1_000,
    object: main("PAGE_JOBS", "another client"),
    method: "get",
    act: async (send, _n, env) => {
      const job = () => jobOf(0, PAGES, "another client", FAULT);
      known ??= env.PAGE_JOBS.getByName("another client").create(job());
      return send((await known).id);
    },
  },
  {
    name: "page service: a job of 10 pages is done, pictures and all",
    requests: PAGES,
    times: 16,
    object: (env, n) => env.PAGE_JOBS.getByName(`client ${n % ISOLATES}`),
    method: "create",
    act: wholeJob,
  },
  {
    name: "alerts: they are to be looked for",
    requests: 0,
    times: 1_000,
    object: main("ALERTS", "look"),
    method: "look",
    act: (send) => send(),
  },
  {
    name: "alerts: one is reported that was told already",
    requests: 0,
    times: 400,
    object: main("ALERTS", "report"),
    method: "report",
    act: (send) => send(alert()),
  },
  {
    name: "alerts: a round, 1,000 accounts, 1,000 keys with budgets",
    requests: 0,
    times: 80,
    object: main("ALERTS", "round"),
    method: "round",
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
    const method = isReal ? kind.method : "take";
    const turn = () => {
      const n = sent++;
      const object = isReal ? kind.object(env, n) : env.NOTHING.getByName("nothing");
      return kind.act((...message) => object[method](...message), n, env);
    };
    const times = Number(searchParams.get("times"));
    for (let n = 0; n < times; n += ISOLATES) {
      await Promise.all(Array.from({ length: Math.min(ISOLATES, times - n) }, turn));
    }
    return new Response();
  },
};
