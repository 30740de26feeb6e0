import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject, parseObject } from "../../../src/core/encoding/json.ts";
import { type GatewayUnderTest, times } from "../gateway-under-test.ts";
import type { Part, PartInput, PartResult } from "../part.ts";

const KEYS = Array.from({ length: 50 }, (_, n) => ({
  key: `sk-of-user-${n}-of-the-campaign`,
  id: `user_${n}`,
}));
/** Maximum time until usage includes the last request, in milliseconds. */
const HEARD_MS = 30_000;

const prompt = [{ role: "user", content: "hello" }];

/** For each style: the request, the location of the usage in the answer, and a text that appears before the end. */
const STYLES = [
  {
    name: "chat-completions",
    path: () => "/v1/chat/completions",
    body: (stream: boolean) => ({ stream, messages: prompt }),
    used: ({ usage }: JsonObject) => tokensIn(usage, "prompt_tokens", "completion_tokens"),
  },
  {
    name: "messages",
    path: () => "/v1/messages",
    body: (stream: boolean) => ({ stream, messages: prompt, max_tokens: 1_000 }),
    used: ({ usage }: JsonObject) => tokensIn(usage, "input_tokens", "output_tokens"),
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    body: (stream: boolean) => ({ stream, input: "hello", store: false }),
    used: ({ usage }: JsonObject) => tokensIn(usage, "input_tokens", "output_tokens"),
  },
  {
    name: "content-generation",
    path: (stream: boolean) =>
      `/v1beta/models/${MODEL}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: () => ({ contents: [{ role: "user", parts: [{ text: "hello" }] }] }),
    used: ({ usageMetadata }: JsonObject) =>
      tokensIn(usageMetadata, "promptTokenCount", "candidatesTokenCount"),
  },
] as const;

const MODEL = "provider-v4-flash-nothinking";

function tokensIn(usage: unknown, input: string, output: string): [number, number] {
  return isObject(usage) ? [Number(usage[input]), Number(usage[output])] : [-1, -1];
}

type Sums = Record<"requests" | "prompt_tokens" | "completion_tokens", number>;

/** A request that has ended. */
interface Sent {
  readonly cell: string;
  /** Usage that the answer states; null if it states none. */
  readonly said: readonly [prompt: number, completion: number] | null;
}

/**
 * Sends one request. A third of the requests fail or are cancelled by the client. The client disconnects only after it has
 * received a part of the answer.
 */
async function send(
  { gateway, upstream }: GatewayUnderTest,
  id: string,
  random: () => number,
): Promise<Sent & { readonly lost: boolean }> {
  const key = KEYS[Math.floor(random() * KEYS.length)] ?? KEYS[0];
  const style = STYLES[Math.floor(random() * STYLES.length)] ?? STYLES[0];
  const fate = random();
  const leaves = fate < 1 / 6;
  const stream = leaves || random() < 0.5;
  if (fate >= 1 / 6 && fate < 1 / 4) upstream.queue({ status: random() < 0.5 ? 400 : 500, code: "told_to" });
  else if (fate >= 1 / 4 && fate < 1 / 3) upstream.queue({ text: "word ".repeat(30), cutAt: 1_500 });
  const leave = new AbortController();
  const cell = `${key?.id} ${style.name}`;
  let text = "";
  try {
    const response = await fetch(gateway.url + style.path(stream), {
      method: "POST",
      headers: {
        authorization: `Bearer ${key?.key}`,
        "content-type": "application/json",
        "x-request-id": id,
      },
      body: JSON.stringify({ model: MODEL, ...style.body(stream) }),
      signal: leave.signal,
    });
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (leaves && text.includes("word")) leave.abort();
    }
    return {
      cell,
      said: stream || response.status !== 200 ? null : style.used(parseObject(text)),
      lost: false,
    };
  } catch {
    return { cell, said: null, lost: !leaves };
  }
}

/** Usage of each request in the log, by request id. */
function logged(lines: readonly string[]): Map<string, Pick<Sums, "prompt_tokens" | "completion_tokens">> {
  const found = new Map<string, Pick<Sums, "prompt_tokens" | "completion_tokens">>();
  for (const line of lines) {
    const { request_id: id, prompt_tokens = 0, completion_tokens = 0 } = parseObject(line);
    if (typeof id !== "string" || !id.startsWith("usage-")) continue;
    found.set(id, { prompt_tokens: Number(prompt_tokens), completion_tokens: Number(completion_tokens) });
  }
  return found;
}

/** Usage in the usage report, by key and style. */
async function booked(site: GatewayUnderTest): Promise<Map<string, Sums>> {
  const query = "granularity=total&group_by=key,dialect&limit=10000";
  const body: unknown = await (await site.admin(`/admin/usage?${query}`)).json();
  const items: unknown = isObject(body) ? body["items"] : null;
  const found = new Map<string, Sums>();
  for (const item of Array.isArray(items) ? items : []) {
    if (!isObject(item) || !String(item["key"]).startsWith("user_")) continue;
    found.set(`${item["key"]} ${item["dialect"]}`, {
      requests: Number(item["requests"]),
      prompt_tokens: Number(item["prompt_tokens"]),
      completion_tokens: Number(item["completion_tokens"]),
    });
  }
  return found;
}

const NOTHING: Sums = { requests: 0, prompt_tokens: 0, completion_tokens: 0 };

function differences(one: ReadonlyMap<string, Sums>, other: ReadonlyMap<string, Sums>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((cell) => {
    const pair = [one.get(cell) ?? NOTHING, other.get(cell) ?? NOTHING].map((sums) =>
      [sums.requests, sums.prompt_tokens, sums.completion_tokens].join("/"),
    );
    return pair[0] === pair[1] ? [] : [`${cell}: ${pair.join(" and not ")}`];
  });
}

/** Evicts the objects at random times until `done` returns true. */
async function evict(
  { runtime, gateway }: GatewayUnderTest,
  random: () => number,
  done: () => boolean,
): Promise<number> {
  let evictions = 0;
  while (!done() && runtime === "workers") {
    await sleep(200 + random() * 800);
    const binding = (["USAGE", "HISTORY", "ACCOUNT_POOL", "USAGE"] as const)[Math.floor(random() * 4)];
    if (binding === undefined) continue;
    await gateway.evict(binding);
    evictions += 1;
  }
  return evictions;
}

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  const sent = new Map<string, Sent>();
  let done = false;
  let lost = 0;
  const evicting = evict(site, random, () => done);
  await times(count, 24, async (index) => {
    const id = `usage-${index}`;
    const request = await send(site, id, random);
    if (request.lost) lost += 1;
    sent.set(id, request);
  });
  const end = Date.now() + HEARD_MS;
  const tokens = await untilLogged(site, sent.size, end);
  done = true;
  const evictions = await evicting;
  let belied = 0;
  const expected = new Map<string, Sums>();
  for (const [id, { cell, said }] of sent) {
    const used = tokens.get(id) ?? { prompt_tokens: 0, completion_tokens: 0 };
    if (said !== null && (said[0] !== used.prompt_tokens || said[1] !== used.completion_tokens)) belied += 1;
    const sums = expected.get(cell) ?? { ...NOTHING };
    sums.requests += 1;
    sums.prompt_tokens += used.prompt_tokens;
    sums.completion_tokens += used.completion_tokens;
    expected.set(cell, sums);
  }
  let wrong = differences(expected, await booked(site));
  while (wrong.length > 0 && Date.now() < end) {
    await sleep(250);
    wrong = differences(expected, await booked(site));
  }
  const total = [...expected.values()].reduce((sum, sums) => sum + sums.completion_tokens, 0);
  const note = [`${evictions} evictions, ${total} tokens answered`, ...wrong.slice(0, 5)].join("; ");
  return { wrong: wrong.length + belied + lost + (count - tokens.size), note };
}

/** Returns the logged usage once all requests are logged. Disconnects are logged with a delay. */
async function untilLogged(
  { gateway }: GatewayUnderTest,
  count: number,
  end: number,
): Promise<ReturnType<typeof logged>> {
  for (;;) {
    const found = logged(gateway.logs());
    if (found.size >= count || Date.now() > end) return found;
    await sleep(250);
  }
}

/** The usage report of many keys must equal their requests' usage exactly, even if the objects are evicted. */
export const usage: Part = {
  name: "usage",
  what: "requests of 50 keys, a third of which fail or are left",
  full: 20_000,
  short: 1_000,
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "word ".repeat(20).trim(), eventEvery: 2 },
    keys: KEYS,
  },
  run,
};
