import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type AnsweredRequest,
  askToEnd,
  type ClientRequest,
  compareWithRecords,
  STYLES,
  type StyleName,
  statedTokens,
} from "../support/answered-requests.ts";
import { DenoGateway } from "../support/deno.ts";

const ROUNDS = 3;
const MINUTE_TOKENS = 1_000_000;
/** More than any round uses: none of its requests is refused. */
const LIMITS = { tokens_per_minute: MINUTE_TOKENS };

/** In each round a key of its own, and one that the round does not use. */
const keyOf = (round: number) => ({ key: `sk-of-round-${round}`, id: `round_${round}`, limits: LIMITS });
const idleKeyOf = (round: number) => ({
  key: `sk-idle-in-round-${round}`,
  id: `idle_${round}`,
  limits: LIMITS,
});

const CONFIG = {
  api_keys: Array.from({ length: ROUNDS + 1 }, (_, round) => [keyOf(round), idleKeyOf(round)]).flat(),
  accounts: Array.from({ length: 4 }, (_, n) => ({
    email: `account-${n}@sandbox.test`,
    password: "sandbox",
  })),
  runtime: { account_max_inflight: 8, account_max_queue: 1_000 },
  history: { limit: 10_000 },
  embeddings: { provider: "builtin" },
};

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start({ vars: { GATEWAY_CONFIG_JSON: JSON.stringify(CONFIG) } });
});
afterAll(() => gateway?.close());

const admin = (path: string) => gateway.fetch(path, { headers: { authorization: "Bearer admin" } });
const styles = Object.keys(STYLES).filter((name): name is StyleName => name in STYLES);

/** Every style whole and streamed, and requests that fail: before an answer, and within one. */
function questionsOf(round: number): ClientRequest[] {
  const key = keyOf(round);
  const asked = styles.flatMap((style) =>
    [false, true].flatMap((stream) =>
      [
        "[[say:a short answer]]",
        "[[chunk:40]] [[big:2000]]",
        "[[status:400:told_to]]",
        "[[error:told_to:3]]",
      ].map((text) => ({ key, style, stream, text })),
    ),
  );
  return asked.map((question, n) => ({ ...question, source: `round ${round}, request ${n}` }));
}

async function embed(round: number): Promise<AnsweredRequest> {
  const { key, id } = keyOf(round);
  const response = await fetch(`${gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "text-embedding-3-small", input: "some text" }),
  });
  const { usage }: { usage: { prompt_tokens: number } } = await response.json();
  const tokens = { prompt: usage.prompt_tokens, completion: 0 };
  return { name: "embeddings", key: id, succeeded: true, tokens, inHistory: false };
}

async function askOverSocket(round: number): Promise<AnsweredRequest> {
  const { key, id } = keyOf(round);
  const text = `[[say:hello]] round ${round}, over a WebSocket`;
  const sdk = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
  const socket = new ResponsesWS(sdk, { reconnect: null });
  const ended = Promise.withResolvers<string>();
  // The kill breaks the connection.
  socket.on("error", () => undefined);
  socket.on("event", (event) => {
    if (event.type === "response.completed") ended.resolve(JSON.stringify(event));
  });
  socket.send({ type: "response.create", model: "provider-v4-flash-nothinking", input: text });
  const tokens = statedTokens("responses", await ended.promise);
  return { name: text, key: id, succeeded: true, tokens, inHistory: true };
}

/** What is left to a key of its tokens a minute, once a further request has reserved its own. */
async function remainingTokens({ key }: { readonly key: string }): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "provider-v4-flash-nothinking",
      messages: [{ role: "user", content: "how much is left?" }],
    }),
  });
  await response.text();
  return Number(response.headers.get("x-ratelimit-remaining-tokens"));
}

it(`loses nothing of what was answered when it is killed with the last answer's end, ${ROUNDS} times over`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answered = await Promise.all([
      ...questionsOf(round).map((question) => askToEnd(gateway.url, question)),
      embed(round),
      askOverSocket(round),
    ]);
    await gateway.end("SIGKILL");
    expect(answered.filter(({ succeeded }) => succeeded).length).toBe(2 * 2 * styles.length + 2);
    await gateway.startAgain();

    const comparison = await compareWithRecords(admin, answered);
    expect(comparison.missing).toEqual([]);
    expect(comparison.counted).toEqual(comparison.answered);
    // Answers that failed used tokens, too, which they do not state.
    const { totals }: { totals: { total_tokens: number } } = await (
      await admin(`/admin/usage?granularity=total&key=${keyOf(round).id}`)
    ).json();
    const used = (await remainingTokens(idleKeyOf(round))) - (await remainingTokens(keyOf(round)));
    expect(used, "of the key's minute").toBe(totals.total_tokens);
  }
}, 120_000);

it("loses nothing that was answered if it is killed under load", async () => {
  const answered: AnsweredRequest[] = [];
  const key = keyOf(ROUNDS);
  let killed: Promise<unknown> | undefined;
  let sent = 0;
  const client = async () => {
    while (killed === undefined) {
      const n = sent++;
      const style = styles[n % styles.length] ?? "chat-completions";
      const text = `[[chunk:40]] [[big:${(n % 5) * 500 + 40}]]`;
      const question = { source: `under load ${n}`, key, style, stream: n % 3 !== 0, text };
      const request = await askToEnd(gateway.url, question).catch(() => null);
      if (request === null) return;
      answered.push(request);
      if (answered.length >= 100) killed ??= gateway.end("SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: 12 }, client));
  await killed;
  await gateway.startAgain();

  const comparison = await compareWithRecords(admin, answered);
  expect(comparison.missing).toEqual([]);
  const { requests = 0, prompt = 0, completion = 0 } = comparison.counted[key.id] ?? {};
  const stated = comparison.answered[key.id];
  expect(requests).toBeGreaterThanOrEqual(answered.length);
  expect(prompt).toBeGreaterThanOrEqual(stated?.prompt ?? Number.NaN);
  expect(completion).toBeGreaterThanOrEqual(stated?.completion ?? Number.NaN);
}, 60_000);
