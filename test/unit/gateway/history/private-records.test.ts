import { describe, expect, test } from "vitest";
import type { HistoryMode } from "../../../../src/core/config/history-mode.ts";
import { Recording } from "../../../../src/gateway/history/recording.ts";
import { conversation } from "../../../support/conversations.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed, KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream } from "../../../support/scripted-upstream.ts";

/** What is stored of requests of keys whose history mode keeps less than everything. */

const createGateway = useMemoryGateway();

const EMAIL = "bob@example.com";
/** A provider's message that quotes the prompt. */
const WORDS = `crash on: mail ${EMAIL} walnut`;
const PATHS = {
  native: ["/v1/chat/completions", { messages: [{ role: "user", content: "mail" }] }],
  translated: ["/v1/messages", { max_tokens: 5, messages: [{ role: "user", content: "mail" }] }],
} as const;
const ADMIN = { headers: { authorization: "Bearer admin" } };

/** A gateway whose only provider answers with an error. */
function createFailingGateway(history: HistoryMode, status: number, message = WORDS): Promise<MemoryGateway> {
  const reply: Reply = { status, json: { error: { message } } };
  return createGateway({
    upstream: new ScriptedUpstream(() => reply),
    env: { ADMIN_KEY: "admin" },
    config: {
      keys: [],
      api_keys: [{ key: KEY, history }],
      providers: [{ id: "vendor", driver: "openai", base_url: "https://vendor.test/v1" }],
      accounts: [{ ...accountNamed("one@vendor"), provider: "vendor", token: "token-of-one" }],
    },
  });
}

/** What administrators see of providers, and of the queue and the accounts. */
async function adminTexts(gateway: MemoryGateway): Promise<[providers: string, accounts: string]> {
  const read = async (path: string) => (await gateway.request(path, ADMIN)).text();
  return [await read("/admin/providers"), await read("/admin/queue/status")];
}

describe.each(["native", "translated"] as const)("a provider's message in a %s answer", (path) => {
  const [address, body] = PATHS[path];
  const ask = async (history: HistoryMode, status: number) => {
    const gateway = await createFailingGateway(history, status);
    const response = await gateway.post(address, { model: "vendor/m", ...body });
    // The caller, who wrote the prompt, gets the words, except those about the account.
    expect((await response.text()).includes("walnut")).toBe(status !== 403);
    return { gateway, records: await gateway.history() };
  };

  test.each([400, 500])("with status %d is stored as the key's history mode allows", async (status) => {
    const [full] = (await ask("full", status)).records;
    expect(full?.error).toContain(WORDS);

    const [redacted] = (await ask("redacted", status)).records;
    expect(redacted?.error).toContain("crash on: mail [email] walnut");
    expect(JSON.stringify(redacted)).not.toContain(EMAIL);

    const [untold] = (await ask("no_texts", status)).records;
    expect(untold).toMatchObject({ status: "error", error_code: full?.error_code, error: /./ });
    expect(JSON.stringify(untold)).not.toMatch(/walnut|bob@/);

    expect((await ask("none", status)).records).toEqual([]);
  });

  // The console finds the account that caused the error by its message.
  test.each(["full", "redacted", "no_texts"] as const)(
    "is shown equally at the account that caused it, in mode %s",
    async (history) => {
      const [record] = (await ask(history, 500)).records;
      expect(record?.tried).toMatchObject([{ account: "one@vendor", message: record?.error }]);
    },
  );

  test("about the account is stored and shown as the key's history mode allows", async () => {
    for (const history of ["full", "redacted", "no_texts", "none"] as const) {
      const { gateway, records } = await ask(history, 403);
      const texts = [JSON.stringify(records), ...(await adminTexts(gateway))];
      const holds = (words: string) => texts.some((text) => text.includes(words));
      expect([history, holds(EMAIL), holds("[email]"), holds("walnut")]).toEqual([
        history,
        history === "full",
        history === "redacted",
        history === "full" || history === "redacted",
      ]);
      // Administrators still see that the account was refused.
      expect(texts[2]).toContain("the provider refused the account");
    }
  });

  test.each([
    ["full", /walnut/],
    ["redacted", /mail \[email\] walnut/],
    ["no_texts", /the provider failed \(status 500\)/],
    ["none", /the provider failed \(status 500\)/],
  ] as const)("is shown to administrators as mode %s allows", async (history, shown) => {
    const { gateway } = await ask(history, 500);
    const [providers] = await adminTexts(gateway);
    expect(providers).toMatch(shown);
    for (const text of await adminTexts(gateway)) {
      if (history !== "full") expect(text).not.toContain("bob@");
      if (history === "no_texts" || history === "none") expect(text).not.toContain("walnut");
    }
  });
});

test.each(["native", "translated"] as const)(
  "a provider's words about one caller's request reach no other caller during an outage (%s)",
  async (path) => {
    const [address, body] = PATHS[path];
    const reply: Reply = { status: 500, json: { error: { message: WORDS } } };
    const accounts = ["one", "two", "three"].map((name) => ({
      ...{ ...accountNamed(`${name}@vendor`), provider: "vendor", token: `token-of-${name}` },
    }));
    const gateway = await createGateway({
      upstream: new ScriptedUpstream(() => ({ late: 1_000, reply })),
      config: {
        keys: [KEY, "sk-other"],
        providers: [{ id: "vendor", driver: "openai", base_url: "https://vendor.test/v1" }],
        accounts,
      },
    });
    const ask = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await gateway.post(address, { model: "vendor/m", ...body }, { headers })).text();
    };
    for (let n = 0; n < 3; n += 1) {
      const asking = ask(KEY);
      await pass(20_000);
      expect(await asking).toContain("walnut");
    }
    const asking = [ask(KEY), ask("sk-other")];
    const asked = gateway.upstream.asked.length;
    await pass(20_000);
    // The other caller's request waits for the first one, which finds out whether the provider works again.
    expect(gateway.upstream.asked).toHaveLength(asked + 1);
    const [, other] = await Promise.all(asking);
    expect(other).toContain("the provider failed (status 500)");
    expect(other).not.toContain("walnut");
  },
);

describe("the record of a generation", () => {
  const record = async (
    history: "redacted" | "no_texts" | undefined,
    outcome: { readonly error: string; readonly code: string },
  ) => {
    const gateway = await createGateway();
    const context = gateway.context({ headers: { "x-gateway-source": `script of ${EMAIL}` } });
    if (history !== undefined) context.facts.history = history;
    context.facts.tags = `urgent,${EMAIL}`;
    context.facts.droppedParams = `top_k,${EMAIL}`;
    const asked = conversation();
    const model = { ...asked.model, id: `vendor/${EMAIL}`, requested: EMAIL };
    const attempt = { cause: "", provider: "vendor", account: "one", at: 1, ms: 1, status: 0, reason: "" };
    const recording = new Recording(
      context,
      { ...asked, model },
      { attempts: [{ ...attempt, cause: "", model: model.id }], begunAttempts: 1 },
    );
    recording.start("", { rawText: "", rawReasoning: "" });
    await gateway.settle();
    const end = { status: "error", statusCode: 400, finishReason: "", usage: null } as const;
    recording.end({ ...end, ...outcome });
    return recording.write(true).summary;
  };
  const OWN = { error: "all accounts are busy", code: "concurrency_limit_exceeded" };

  test("has the caller's names without personal data", async () => {
    expect(await record(undefined, OWN)).toMatchObject({
      requested_model: EMAIL,
      model: `vendor/${EMAIL}`,
      source: `script of ${EMAIL}`,
      tags: ["urgent", EMAIL],
      dropped_params: ["top_k", EMAIL],
    });
    for (const mode of ["redacted", "no_texts"] as const) {
      const summary = await record(mode, OWN);
      expect(summary).toMatchObject({
        requested_model: "[email]",
        source: "script of [email]",
        tags: ["urgent", "[email]"],
        dropped_params: ["top_k", "[email]"],
      });
      expect(JSON.stringify(summary)).not.toContain(EMAIL);
    }
  });

  test("has the gateway's own message in a mode without texts, unless it can quote the request", async () => {
    expect(await record("no_texts", OWN)).toMatchObject({ error: OWN.error });
    const quote = { error: 'the tool "walnut" is unknown', code: "invalid_request" };
    expect((await record("no_texts", quote)).error).toBe("the request failed: invalid request");
  });

  test("has messages that are redacted before they are shortened", async () => {
    const long = { error: `${"x".repeat(290)} ${EMAIL}`, code: "upstream_error" };
    expect((await record("redacted", long)).error).not.toContain("bob");
  });
});

test("in redacted mode has no personal data in names of files and tools", async () => {
  const gateway = await createGateway();
  const context = gateway.context();
  context.facts.history = "redacted";
  const file = { kind: "inline", data: "QQ==", mediaType: "text/plain" } as const;
  const recording = new Recording(
    context,
    conversation({
      messages: [
        { role: "user", parts: [{ type: "file", source: file, filename: `${EMAIL}.txt` }] },
        { role: "assistant", parts: [], toolCalls: [{ id: EMAIL, name: EMAIL, arguments: "{}" }] },
        { role: "tool", callId: EMAIL, name: EMAIL, isError: false, parts: [] },
      ],
    }),
    { attempts: [], begunAttempts: 0 },
  );
  recording.start("", { rawText: "", rawReasoning: "" });
  const { messages = "" } = recording.write().request ?? {};
  expect(messages).not.toContain(EMAIL);
  expect(JSON.parse(messages)).toHaveLength(3);
});
