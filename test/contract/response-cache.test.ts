import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { COMPLETIONS_CLIENT, DIALECT_CLIENTS } from "../support/dialect-clients.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Response cache. */

const MODEL = "provider-v4-flash";
const HOUR = { cache: { ttl_seconds: 3_600 } };

const gateway = useAdmin();
const { admin, post } = gateway;

const turns = async () => (await gateway.gateway.sandbox.state()).turns.length;
const result = (response: Response) => response.headers.get("x-gateway-cache");

async function addKey(settings: Record<string, unknown> = HOUR) {
  const { body, status } = await admin("POST", "/admin/keys", settings);
  expect([status, body]).toMatchObject([200, { success: true }]);
  return { id: String(body["id"]), secret: String(body["key"]) };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** A question that no other test asks. */
const question = (text: string) => `[[say:${text}]] ${crypto.randomUUID()}`;

/** A client of one key that asks the same chat completion with further members and headers. */
async function createAsker(settings: Record<string, unknown> = HOUR, text = question("Cached.")) {
  const { id, secret } = await addKey(settings);
  const ask = (more: object = {}, headers = {}) =>
    post(
      "/v1/chat/completions",
      { model: MODEL, messages: [{ role: "user", content: text }], ...more },
      { ...bearer(secret), ...headers },
    );
  /** The result of each request, in order. */
  const results = async (...requests: readonly { more?: object; headers?: object }[]) => {
    const found: (string | null)[] = [];
    for (const { more, headers } of requests) {
      const response = await ask(more, headers);
      await response.text();
      found.push(result(response));
    }
    return found;
  };
  return { id, secret, ask, results };
}

/** Asks until the answer comes from the cache: it is stored in the background. */
const askForHit = (ask: () => Promise<Response>) =>
  until(
    async () => {
      const response = await ask();
      return { response, text: await response.text() };
    },
    ({ response }) => result(response) === "hit",
  );

/** Asks some times, with time for the cache between, and expects that no answer comes from it. */
async function expectNeverCached(ask: () => Promise<Response>, expected: string | null = "miss") {
  for (let count = 0; count < 3; count += 1) {
    const response = await ask();
    await response.text().catch(() => "");
    expect(result(response)).toBe(expected);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("an equal request", () => {
  it.each([...DIALECT_CLIENTS, COMPLETIONS_CLIENT])(
    "gets the stored answer, whole and streamed, and the provider is asked once: $name",
    async (client) => {
      const { secret } = await addKey();
      for (const stream of [false, true]) {
        const api = {
          // A stored response is never cached.
          post: (path: string, body: unknown) =>
            post(path, path === "/v1/responses" ? { ...Object(body), store: false } : body, bearer(secret)),
        };
        const conversation = { steps: [{ user: question(`Once, ${client.name}, ${stream}.`) }] };
        const first = await client.send(api, conversation, stream);
        await first.text();
        expect([first.status, result(first), first.headers.get("age")]).toEqual([200, "miss", null]);
        // Storing takes time: a request meanwhile is answered by the provider, and its answer is stored, too.
        const { text } = await askForHit(() => client.send(api, conversation, stream));
        const before = await turns();
        const second = await client.send(api, conversation, stream);
        expect([second.status, result(second), await second.text()]).toEqual([200, "hit", text]);
        expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
        expect(Number(second.headers.get("age"))).toBeGreaterThanOrEqual(0);
        expect(await turns()).toBe(before);
        const read = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect(JSON.stringify(read)).toContain(`Once, ${client.name}, ${stream}.`);
      }
    },
  );

  it("reads the same with the SDKs of OpenAI and Anthropic", async () => {
    const { secret } = await addKey();
    const results: (string | null)[] = [];
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      results.push(result(response));
      return response;
    };
    const openai = new OpenAI({ baseURL: `${gateway.gateway.url}/v1`, apiKey: secret, fetch: noting });
    const baseURL = `${gateway.gateway.url}/anthropic`;
    const anthropic = new Anthropic({ baseURL, apiKey: secret, fetch: noting });
    const content = question("Read as it was.");
    const askOpenai = async () => {
      const messages = [{ role: "user" as const, content }];
      let text = "";
      for await (const chunk of await openai.chat.completions.create({
        model: MODEL,
        messages,
        stream: true,
      }))
        text += chunk.choices[0]?.delta.content ?? "";
      return text;
    };
    const askAnthropic = async () => {
      const messages = [{ role: "user" as const, content }];
      const message = await anthropic.messages
        .stream({ model: "claude-sonnet-4-5", max_tokens: 100, messages })
        .finalMessage();
      return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    };
    for (const ask of [askOpenai, askAnthropic]) {
      const first = await ask();
      expect(first).toBe("Read as it was.");
      expect(results.at(-1)).toBe("miss");
      expect(await until(ask, () => results.at(-1) === "hit")).toBe(first);
    }
  });

  it("may have its members in another order, or another user, but no other difference", async () => {
    const { ask, results } = await createAsker();
    await askForHit(() => ask({ temperature: 0.5, max_tokens: 50 }));
    expect(await results({ more: { max_tokens: 50, user: "ada", temperature: 0.5 } })).toEqual(["hit"]);
    const others = [{ temperature: 0.6 }, { max_tokens: 51 }, { stream: true }, { model: "provider-v4-pro" }];
    for (const other of others) {
      expect([other, await results({ more: { temperature: 0.5, max_tokens: 50, ...other } })]).toEqual([
        other,
        ["miss"],
      ]);
    }
  });

  it("of another key gets a separate answer", async () => {
    const text = question("Private.");
    const first = await createAsker(HOUR, text);
    const second = await createAsker(HOUR, text);
    await askForHit(() => first.ask());
    expect(await second.results({})).toEqual(["miss"]);
  });
});

describe("Cache-Control of a request", () => {
  const control = (value: string) => ({ headers: { "cache-control": value } });

  it("requests a new answer with no-cache and max-age=0, which replaces the stored one", async () => {
    const { ask, results } = await createAsker(HOUR, `[[think:]]${question("New.")}`);
    const { text: old } = await askForHit(() => ask());
    for (const value of ["no-cache", "max-age=0", "Max-Age = nonsense, no-transform"]) {
      expect([value, await results(control(value))]).toEqual([value, ["miss"]]);
    }
    await until(
      () => askForHit(() => ask()),
      ({ text }) => text !== old,
    );
    expect(await results(control("max-age=600"), control("max-stale"))).toEqual(["hit", "hit"]);
  });

  it("bypasses the cache with no-store", async () => {
    const { ask, results } = await createAsker();
    await expectNeverCached(() => ask({}, { "cache-control": "no-store" }));
    expect(await results({})).toEqual(["miss"]);
    await askForHit(() => ask());
    expect(await results(control("no-store"))).toEqual(["miss"]);
  });
});

describe("an answer is stored", () => {
  it("until its time is over", async () => {
    const { ask } = await createAsker({ cache: { ttl_seconds: 2 } });
    await askForHit(() => ask());
    await until(ask, (response) => result(response) === "miss");
  });

  it.each([
    ["a failure", "[[status:500:server_error]]", {}],
    ["a refusal by the provider", "[[say:x]][[content_filter]]", {}],
    ["an answer that was cut", "[[say:cut off somewhere]][[chunk:2]][[cut:3]]", {}],
    ["a stream that was cut", "[[say:cut off somewhere]][[chunk:2]][[cut:3]]", { stream: true }],
    ["a request that looks something up", "[[say:x]]", { web_search_options: {} }],
    ["a request that is stored", "[[say:x]]", { store: true }],
    ["a request that names a file", "[[say:x]]", { metadata: { more: [{ file_id: "file-1" }] } }],
  ])("never for %s", async (_, directives, more) => {
    const { ask } = await createAsker(HOUR, `${directives} ${crypto.randomUUID()}`);
    await expectNeverCached(() => ask(more));
  });

  it("never for responses that are stored or continue one", async () => {
    const { secret } = await addKey();
    const respond = (more: object) =>
      post("/v1/responses", { model: MODEL, input: "[[say:State.]]", ...more }, bearer(secret));
    await expectNeverCached(() => respond({}));
    const { id } = Object(await (await respond({})).json());
    await expectNeverCached(() => respond({ store: false, previous_response_id: id }));
  });

  it("never when its client left before the end", async () => {
    const { ask, secret } = await createAsker(HOUR, "[[say:Nobody waits for this.]][[chunk:2]][[slow:200]]");
    const leaving = new AbortController();
    const leavingRequest = gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(secret) },
      body: JSON.stringify({
        model: MODEL,
        stream: true,
        messages: [{ role: "user", content: "[[say:Nobody waits for this.]][[chunk:2]][[slow:200]]" }],
      }),
      signal: leaving.signal,
    });
    const reader = (await leavingRequest).body?.getReader();
    await reader?.read();
    leaving.abort();
    reader?.cancel().catch(() => undefined);
    await until(
      async () => gateway.gateway.logs().join("\n"),
      (logs) => logs.includes("request_cancelled"),
    );
    const response = await ask({ stream: true });
    expect(result(response)).toBe("miss");
    await response.body?.cancel();
  });

  it("never for a key whose texts must not be kept", async () => {
    for (const history of ["none", "no_texts", "redacted"]) {
      const { ask } = await createAsker({ ...HOUR, history });
      await expectNeverCached(() => ask());
    }
  });
});

describe("the narrowest setting", () => {
  const change = async (cache: object) => {
    const { status, body } = await admin("PUT", "/admin/settings", { cache });
    expect([status, body]).toMatchObject([200, { success: true, cache }]);
  };

  it("counts: of the key, the model, the provider, all requests", async () => {
    const text = question("Narrow.");
    const plain = await createAsker({}, text);
    await expectNeverCached(() => plain.ask(), null);
    await change({ ttl_seconds: 600 });
    await askForHit(() => plain.ask());
    // An alias is a name of the model, too.
    await change({ ttl_seconds: 600, models: { [MODEL]: { ttl_seconds: 0 } } });
    await until(
      () => plain.ask(),
      (response) => result(response) === null,
    );
    const own = await createAsker(HOUR, text);
    await askForHit(() => own.ask());
    const off = await createAsker({ cache: { ttl_seconds: 0 } }, text);
    await change({ ttl_seconds: 600, models: {} });
    await until(
      () => plain.ask(),
      (response) => result(response) !== null,
    );
    await expectNeverCached(() => off.ask(), null);
    await change({ ttl_seconds: 0, models: {} });
  });

  it("is kept by edits, exports and imports, and a misspelt one is refused", async () => {
    const { id } = await addKey();
    const keyView = async () => (await admin("GET", `/admin/keys/${id}`)).body;
    expect(await keyView()).toMatchObject(HOUR);
    expect(await admin("PUT", `/admin/keys/${id}`, { cache: { ttl: 3 } })).toMatchObject({ status: 400 });
    expect(await admin("PUT", `/admin/keys/${id}`, { cache: { ttl_seconds: -1 } })).toMatchObject({
      status: 400,
    });
    const models = { [MODEL]: { ttl_seconds: 0 } };
    expect(await admin("PUT", "/admin/settings", { cache: { model: {} } })).toMatchObject({ status: 400 });
    await admin("PUT", "/admin/settings", { cache: { models } });
    const provider = { id: "cached", driver: "openai", base_url: "http://127.0.0.1:9/v1" };
    expect(await admin("POST", "/admin/providers", { ...provider, ...HOUR })).toMatchObject({
      status: 200,
      body: HOUR,
    });
    const { body: exported } = await admin("GET", "/admin/config/export");
    const { json } = exported;
    expect(JSON.parse(String(json))).toMatchObject({ cache: { models } });
    await admin("PUT", `/admin/keys/${id}`, { cache: {} });
    expect(await keyView()).toMatchObject({ cache: {} });
    await admin("PUT", "/admin/providers/cached", { cache: {} });
    await admin("PUT", "/admin/settings", { cache: { models: {} } });
    const { status } = await admin("POST", "/admin/config/import?mode=replace", {
      config: JSON.parse(String(json)),
    });
    expect(status).toBe(200);
    expect(await keyView()).toMatchObject(HOUR);
    expect((await admin("GET", "/admin/providers/cached")).body).toMatchObject(HOUR);
    expect((await admin("GET", "/admin/settings")).body).toMatchObject({ cache: { models } });
    await admin("PUT", "/admin/settings", { cache: { models: {} } });
  });
});

describe("a cached answer", () => {
  it("counts as a request, but not for tokens and cost, and is shown apart", async () => {
    const { id, ask } = await createAsker({
      ...HOUR,
      limits: { requests_per_minute: 1_000, tokens_per_day: 100_000 },
    });
    const { text } = await askForHit(() => ask());
    const usageOf = async () => {
      const { body } = await admin("GET", "/admin/usage?group_by=key&granularity=total");
      const items: readonly { key: string; requests: number; total_tokens: number; cache_hits: number }[] =
        Object(body["items"]);
      return items.find((item) => item.key === id) ?? { requests: 0, total_tokens: 0, cache_hits: 0 };
    };
    const limitsOf = async () => Object((await admin("GET", `/admin/keys/${id}`)).body["used_today"]);
    const metricOf = async (label: string) => {
      const response = await gateway.fetch("/admin/metrics", { headers: bearer("admin") });
      const line = (await response.text())
        .split("\n")
        .find((one) => one.startsWith(`polygate_cache_requests_total{result="${label}"}`));
      return Number(line?.split(" ").at(-1) ?? 0);
    };
    const before = await until(usageOf, ({ cache_hits }) => cache_hits > 0);
    const [tokens, hits] = [await limitsOf(), await metricOf("hit")];
    for (let count = 0; count < 5; count += 1) {
      const response = await ask({});
      expect([result(response), await response.text()]).toEqual(["hit", text]);
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("1000");
      expect(response.headers.get("x-ratelimit-remaining-tokens")).toBeNull();
    }
    const after = await until(usageOf, ({ cache_hits }) => cache_hits >= before.cache_hits + 5);
    expect(after).toMatchObject({
      requests: before.requests + 5,
      cache_hits: before.cache_hits + 5,
      total_tokens: before.total_tokens,
    });
    expect((await limitsOf()).tokens).toBe(tokens.tokens);
    await until(
      () => metricOf("hit"),
      (count) => count >= hits + 5,
    );
    const { body: history } = await admin("GET", "/admin/chat-history?page_size=100");
    const records: readonly { key: string; cached?: boolean; status: string }[] = Object(history["items"]);
    const mine = records.filter(({ key }) => key === id);
    expect(mine.filter(({ cached }) => cached === true).length).toBeGreaterThanOrEqual(5);
    expect(mine.every(({ status }) => status === "success")).toBe(true);
    expect(gateway.gateway.logs().some((line) => line.includes('"cache":"hit"'))).toBe(true);
  });

  it("is refused like a new one: limits of requests, models and guardrails", async () => {
    const { id, ask } = await createAsker({ ...HOUR, limits: { requests_per_minute: 1_000 } });
    await askForHit(() => ask());
    await admin("PUT", `/admin/keys/${id}`, { limits: { requests_per_minute: 1 } });
    const limited = await until(ask, ({ status }) => status === 429);
    expect(Object(await limited.json())).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    await admin("PUT", `/admin/keys/${id}`, { limits: {}, models: ["provider-v4-pro"] });
    await until(ask, ({ status }) => status === 403);
    await admin("PUT", `/admin/keys/${id}`, { models: [] });
    await askForHit(() => ask());
    const rule = { id: "words", type: "expressions", expressions: [{ pattern: "Cached" }] };
    expect(await admin("PUT", "/admin/guardrails", { rules: [rule] })).toMatchObject({ status: 200 });
    await until(ask, ({ status }) => status !== 200);
    await admin("PUT", "/admin/guardrails", { rules: [] });
    await until(ask, ({ status }) => status === 200);
  });
});
