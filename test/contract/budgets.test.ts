import { afterAll, describe, expect, it } from "vitest";
import { startChatBackend } from "../support/chat-backend.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Limits of a key: how far budgets of tokens and cost can be exceeded. */

/** The model of the provider of the variables. */
const MODEL = "provider-v4-flash";
/** What the provider states of each answer: fewer tokens than the gateway expects, or more. */
const USED = { exact: 10, long: 100 };
/** A tenth for a token. */
const PRICE = { input: 100_000, output: 100_000 };
/** The gateway expects more than 10 tokens of it. */
const CONTENT = "Count the words of this sentence, and then those of the sentence after it, please. Thanks!";

const backend = await startChatBackend({
  models: ["exact", "long"],
  says: "ok",
  delayMs: 5,
  usageOf: (model) => {
    const total = model === "exact" ? USED.exact : USED.long;
    return JSON.stringify({ prompt_tokens: total - 3, completion_tokens: 3, total_tokens: total });
  },
});
afterAll(() => backend.close());

const gateway = useAdmin({
  vars: {
    PROVIDER_DRIVER: "openai",
    PROVIDER_BASE_URL: backend.url,
    PROVIDER_TOKEN: "token-of-the-deployment",
    PROVIDER_MODELS: JSON.stringify({ [MODEL]: "exact" }),
    GATEWAY_CONFIG_JSON: JSON.stringify({
      api_keys: [{ key: "sk-first", name: "first" }],
      runtime: { account_max_inflight: 256 },
      prices: { [MODEL]: PRICE },
    }),
    GATEWAY_CONFIG_WRITEBACK: "true",
  },
});
const { admin, post } = gateway;

interface TestKey {
  readonly id: string;
  readonly secret: string;
}

async function addKey(settings: object): Promise<TestKey> {
  const { body, status } = await admin("POST", "/admin/keys", settings);
  expect([status, body]).toMatchObject([200, { success: true }]);
  return { id: String(body["id"]), secret: String(body["key"]) };
}

/** Adds the two keys of a test. */
const addKeys = async (settings: object) => [await addKey(settings), await addKey(settings)] as const;

/** Sends one request. Returns its status and the code of its error. */
async function send({ secret }: TestKey, model: string, headers: object): Promise<[number, string]> {
  const messages = [{ role: "user", content: CONTENT }];
  const answer = await post(
    "/v1/chat/completions",
    { model, max_tokens: 3, messages },
    { authorization: `Bearer ${secret}`, ...headers },
  );
  const { error } = Object(await answer.json());
  return [answer.status, String(Object(error).code ?? "")];
}

/** Sends requests at once. Returns how many succeeded. The others must have met the budget, or the limit of parallel requests. */
async function sendAtOnce(count: number, keys: readonly TestKey[], model: string, headers = {}) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const key = keys[index % keys.length];
      if (key === undefined) throw new Error("there is no key");
      return send(key, model, headers);
    }),
  );
  const codes = new Set(answers.filter(([status]) => status !== 200).map(([, code]) => code));
  return { succeeded: answers.filter(([status]) => status === 200).length, codes: [...codes] };
}

/** The stored usage of some keys. */
async function usageOf(keys: readonly TestKey[]) {
  const { items } = (await admin("GET", "/admin/usage?granularity=total&group_by=key")).body;
  const all: readonly { key: string; succeeded: number; total_tokens: number; cost: number }[] =
    Object(items);
  const mine = all.filter(({ key }) => keys.some(({ id }) => id === key));
  const sum = (name: "succeeded" | "total_tokens" | "cost") =>
    mine.reduce((total, item) => total + item[name], 0);
  return { succeeded: sum("succeeded"), tokens: sum("total_tokens"), cost: sum("cost") };
}

const PROVIDER = { driver: "openai", token: "token-of-the-provider", models: { exact: {}, long: {} } };
const addProvider = (id: string, limits: object) =>
  admin("POST", "/admin/providers", { ...PROVIDER, id, base_url: backend.url, limits });

/** For each kind of subject: creates one with limits, and the keys and models whose requests count for it. */
const SUBJECTS: readonly {
  readonly kind: string;
  readonly headers?: object;
  readonly prepare: (id: string, limits: object) => Promise<readonly TestKey[]>;
  readonly model?: (id: string) => string;
}[] = [
  { kind: "key", prepare: async (_, limits) => [await addKey({ limits })] },
  {
    kind: "team",
    prepare: async (id, limits) => {
      await admin("POST", "/admin/teams", { id, limits });
      return addKeys({ team: id });
    },
  },
  {
    kind: "user",
    prepare: async (id, limits) => {
      await admin("POST", "/admin/users", { id, limits });
      return addKeys({ user: id });
    },
  },
  {
    kind: "tag",
    prepare: async (id, limits) => {
      await admin("POST", "/admin/tags", { id, limits });
      return addKeys({});
    },
  },
  {
    kind: "provider",
    prepare: async (id, limits) => {
      await addProvider(id, limits);
      await admin("PUT", "/admin/settings", { prices: { [MODEL]: PRICE, [`${id}/exact`]: PRICE } });
      return addKeys({});
    },
    model: (id) => `${id}/exact`,
  },
  {
    kind: "provider of the variables",
    prepare: async (_, limits) => {
      await admin("PUT", "/admin/settings", { default_provider: { limits } });
      return addKeys({});
    },
  },
];

describe("100 requests at once for a budget of 50", () => {
  const budgets = [
    { budget: "tokens", limits: { tokens_per_day: 500 } },
    { budget: "cost", limits: { cost_per_day: 50 } },
  ];
  // Budgets of cost alone for all kinds but a key: the pairs that are left out are in `test/unit/pool/limits/budgets.test.ts`.
  const cases = SUBJECTS.flatMap((subject) =>
    budgets
      .filter(({ budget }) => subject.kind === "key" || budget === "cost")
      .map((entry) => ({ ...subject, ...entry })),
  );

  it.each(cases)(
    "of $budget of a $kind: 50 are answered, and all sums agree",
    { timeout: 60_000 },
    async (entry) => {
      const { kind, budget, limits, prepare, model = () => MODEL } = entry;
      // A second try begins with a subject that has used nothing.
      const id = `${kind.replaceAll(" ", "-")}-${budget}-${crypto.randomUUID()}`;
      const keys = await prepare(id, limits);
      const headers = kind === "tag" ? { "x-gateway-tags": id } : {};
      const before = backend.asked.length;
      let { succeeded, codes } = await sendAtOnce(100, keys, model(id), headers);
      expect(codes).toEqual(["insufficient_quota"]);
      expect(succeeded).toBeLessThanOrEqual(50);
      // What was expected of the first ones and not used is free again.
      await until(
        async () => {
          succeeded += (await sendAtOnce(10, keys, model(id), headers)).succeeded;
          return succeeded;
        },
        (count) => count >= 50,
        30_000,
      );
      expect(await sendAtOnce(10, keys, model(id), headers)).toEqual({
        succeeded: 0,
        codes: ["insufficient_quota"],
      });
      expect([succeeded, backend.asked.length - before]).toEqual([50, 50]);
      const usage = await until(
        () => usageOf(keys),
        (found) => found.succeeded === 50,
      );
      expect(usage).toMatchObject({ tokens: 500, cost: expect.closeTo(50, 6) });
      const name = kind === "provider of the variables" ? "default" : kind === "key" ? keys[0]?.id : id;
      const { body } = await admin("GET", `/admin/${kind.split(" ")[0]}s/${name}`);
      expect(body["used"]).toMatchObject({
        ...(kind !== "provider of the variables" && { tokens_per_day: 500 }),
        cost_per_day: expect.closeTo(50, 6),
        parallel: 0,
      });
      const { body: list } = await admin("GET", `/admin/${kind.split(" ")[0]}s`);
      expect(list["items"]).toContainEqual(expect.objectContaining({ used: body["used"] }));
      if (kind === "provider of the variables")
        await admin("PUT", "/admin/settings", { default_provider: { limits: {} } });
    },
  );
});

it("exceeds a budget by less than the usage of max_parallel requests", async () => {
  await addProvider("one", {});
  const limits = { tokens_per_day: 1_000, max_parallel: 5 };
  const key = await addKey({ limits });
  const workers = Array.from({ length: 10 }, async () => {
    let succeeded = 0;
    for (;;) {
      const [status, code] = await send(key, "one/long", {});
      if (status === 200) succeeded += 1;
      else if (code === "insufficient_quota") return succeeded;
      else expect(code).toBe("rate_limit_exceeded");
    }
  });
  const counts = await Promise.all(workers);
  const used = counts.reduce((sum, count) => sum + count, 0) * USED.long;
  expect(used).toBeGreaterThanOrEqual(limits.tokens_per_day);
  expect(used).toBeLessThan(limits.tokens_per_day + limits.max_parallel * USED.long);
  const usage = await until(
    () => usageOf([key]),
    ({ tokens }) => tokens >= used,
  );
  expect(usage.tokens).toBe(used);
});
