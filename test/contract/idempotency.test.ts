import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { COMPLETIONS_CLIENT, DIALECT_CLIENTS } from "../support/dialect-clients.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

const MODEL = "provider-v4-flash";

/** The openai SDK with the idempotency keys that it makes for each request and sends again with its retries. */
class RetryingClient extends OpenAI {
  override idempotencyHeader = "Idempotency-Key";
}

/** A `fetch` that lets the gateway answer each request, but loses the first answers on the way to the client. */
function losing(answers: number, lose: (response: Response) => Promise<unknown>): typeof fetch {
  let left = answers;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (left === 0) return response;
    left -= 1;
    await lose(response);
    throw new TypeError("the connection broke");
  };
}

describe("Idempotency-Key", () => {
  const gateway = useAdmin();
  const { admin, chat, post } = gateway;
  const turns = async () => (await gateway.gateway.sandbox.state()).turns.length;
  const key = () => ({ "idempotency-key": crypto.randomUUID() });
  const replayed = (response: Response) => response.headers.get("idempotent-replayed");
  const requestsOf = async (id: string) => {
    const { body } = await admin("GET", "/admin/usage?group_by=key&granularity=total");
    const items: readonly { readonly key: string; readonly requests: number }[] = Object(body["items"]);
    return items.find((item) => item.key === id) ?? { requests: 0 };
  };

  it.each([...DIALECT_CLIENTS, COMPLETIONS_CLIENT])(
    "repeats the answer to a repeated request, whole and streamed, and asks the provider once: $name",
    async (client) => {
      for (const stream of [false, true]) {
        const headers = key();
        const api = { post: (path: string, body: unknown) => post(path, body, headers) };
        const conversation = { steps: [{ user: `[[say:Said once, ${client.name}, ${stream}.]]` }] };
        const before = await turns();
        const first = await client.send(api, conversation, stream);
        const text = await first.text();
        expect([first.status, replayed(first)]).toEqual([200, null]);
        const second = await client.send(api, conversation, stream);
        expect([second.status, replayed(second)]).toEqual([200, "true"]);
        expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
        expect(await second.text()).toBe(text);
        expect((await turns()) - before).toBe(1);
        const read = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect(JSON.stringify(read)).toContain(`Said once, ${client.name}, ${stream}.`);
      }
    },
  );

  it("bills the retries of an SDK once, for each kind of broken connection", async () => {
    const { body } = await admin("POST", "/admin/keys", { name: "retries" });
    const lost: ((response: Response) => Promise<unknown>)[] = [
      (response) => response.text(),
      // Before anything of the body was read.
      async (response) => response.body?.cancel(),
    ];
    const client = (lose: (response: Response) => Promise<unknown>) =>
      new RetryingClient({
        baseURL: `${gateway.gateway.url}/v1`,
        apiKey: String(body["key"]),
        maxRetries: 2,
        fetch: losing(1, lose),
      });
    const before = await turns();
    for (const lose of lost) {
      const messages = [{ role: "user", content: "[[say:Paid once.]]" }] as const;
      const whole = await client(lose).chat.completions.create({ model: MODEL, messages: [...messages] });
      expect(whole.choices[0]?.message.content).toBe("Paid once.");
      const stream = await client(lose).chat.completions.create({
        model: MODEL,
        messages: [...messages],
        stream: true,
      });
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      expect(text).toBe("Paid once.");
    }
    expect((await turns()) - before).toBe(4);
    const used = await until(
      () => requestsOf(String(body["id"])),
      ({ requests }) => requests >= 4,
    );
    expect(used).toMatchObject({ requests: 4, succeeded: 4 });
  });

  it("gives the anthropic SDK a repeated answer that it can read", async () => {
    const client = new Anthropic({
      baseURL: `${gateway.gateway.url}/anthropic`,
      apiKey: DEV_KEY,
      maxRetries: 1,
      defaultHeaders: key(),
      fetch: losing(1, (response) => response.text()),
    });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "[[say:Once.]]" }];
    const stream = client.messages.stream({ model: "claude-sonnet-4-5", max_tokens: 100, messages });
    expect((await stream.finalMessage()).content).toMatchObject([{ type: "text", text: "Once." }]);
  });

  it("continues a request after its client has left, and lets a repeated one wait for it", async () => {
    const headers = key();
    const before = await turns();
    const leaving = new AbortController();
    const path = "/v1/chat/completions";
    const slow = {
      model: MODEL,
      messages: [{ role: "user", content: "[[say:Late but whole.]][[chunk:2]][[slow:150]]" }],
    };
    const first = gateway.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${DEV_KEY}`, ...headers },
      body: JSON.stringify(slow),
      signal: leaving.signal,
    });
    first.catch(() => undefined);
    await until(turns, (count) => count > before);
    leaving.abort();
    const second = await post(path, slow, headers);
    expect([second.status, replayed(second)]).toEqual([200, "true"]);
    expect(await second.json()).toMatchObject({ choices: [{ message: { content: "Late but whole." } }] });
    expect((await turns()) - before).toBe(1);
  });

  it("treats equal simultaneous requests as one", async () => {
    const headers = key();
    const before = await turns();
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => (await chat("[[say:One.]][[slow:300]]", {}, headers)).text()),
    );
    expect(new Set(answers).size).toBe(1);
    expect((await turns()) - before).toBe(1);
  });

  it("refuses another body, style or account with the same key with a 409 that SDKs do not retry", async () => {
    const headers = key();
    await (await chat("one", {}, headers)).text();
    const others = [
      chat("two", {}, headers),
      chat("one", { stream: true }, headers),
      chat("one", {}, { ...headers, "x-gateway-target-account": "one@sandbox.test" }),
      post("/v1/responses", { model: MODEL, input: "one" }, headers),
    ];
    for (const response of await Promise.all(others)) {
      expect([response.status, response.headers.get("x-should-retry")]).toEqual([409, "false"]);
      expect(await response.json()).toMatchObject({ error: { param: "Idempotency-Key" } });
    }
    const client = new OpenAI({
      baseURL: `${gateway.gateway.url}/v1`,
      apiKey: DEV_KEY,
      defaultHeaders: headers,
    });
    await expect(
      client.chat.completions.create({ model: MODEL, messages: [{ role: "user", content: "three" }] }),
    ).rejects.toBeInstanceOf(OpenAI.ConflictError);
  });

  it("gives another caller with the same key a separate answer", async () => {
    const headers = key();
    await (await chat("[[say:Mine.]]", {}, headers)).text();
    const { body } = await admin("POST", "/admin/keys", { name: "neighbour" });
    const other = { ...headers, authorization: `Bearer ${String(body["key"])}` };
    const response = await chat("[[say:Mine.]]", {}, other);
    expect([response.status, replayed(response)]).toEqual([200, null]);
    await response.body?.cancel();
  });

  it.each([
    ["429", "[[status:429:busy]]"],
    ["500", "[[status:500:internal]]"],
    ["a broken stream", "[[cut:6]]"],
  ])("does not store %s, so that a repeated request runs", async (_, text) => {
    const headers = key();
    await (await chat(text, { stream: true }, headers)).text().catch(() => "");
    const before = await turns();
    const again = await chat(text, { stream: true }, headers);
    expect(replayed(again)).toBeNull();
    await again.text().catch(() => "");
    expect(await turns()).toBeGreaterThan(before);
  });

  it.each(["", " ", "x".repeat(256), "naïve"])("is invalid if it is %j", async (text) => {
    const response = await chat("hello", {}, { "idempotency-key": text });
    // An empty header may not arrive.
    expect(text.trim() === "" ? [200, 400] : [400]).toContain(response.status);
    await response.body?.cancel();
  });

  it("may be in quotation marks, as in the draft, or without them", async () => {
    await (await chat("quoted", {}, { "idempotency-key": '"a-string"' })).text();
    const plain = await chat("quoted", {}, { "idempotency-key": "a-string" });
    expect(replayed(plain)).toBe("true");
    await plain.body?.cancel();
  });
});
