import { calcPrice } from "@pydantic/genai-prices";
import { afterAll, expect, it } from "vitest";
import * as z from "zod";
import { startChatBackend } from "../support/chat-backend.ts";
import { useAdmin } from "../support/use-admin.ts";

const USAGE = {
  prompt_tokens: 1_000,
  completion_tokens: 200,
  total_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 600 },
};

/** The members of answers that the tests read. */
const answerSchema = z.looseObject({
  models: z.unknown().optional(),
  items: z.array(z.object({ model: z.string(), cost: z.number().nullish() })).default([]),
});

const backend = await startChatBackend({
  models: ["gpt-4o", "free"],
  says: "Priced.",
  usageOf: () => JSON.stringify(USAGE),
});
afterAll(() => backend.close());

const running = useAdmin();

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await running.admin(method, path, body);
  return { status: answer.status, body: answerSchema.parse(answer.body) };
};

/** The cost of the usage by the package that the prices come from. */
function expectedCost(): number {
  const usage = { input_tokens: 1_000, cache_read_tokens: 600, output_tokens: 200 };
  return calcPrice(usage, "gpt-4o", { providerId: "openai" })?.total_price ?? Number.NaN;
}

it("brings price, context and abilities with the models of a vendor, and then states what requests cost", async () => {
  const created = await admin("POST", "/admin/providers", {
    id: "vendor",
    driver: "openai",
    base_url: "https://api.openai.com/v1",
    token: "sk-vendor",
  });
  expect(created.status).toBe(200);
  const added = await admin("POST", "/admin/providers/vendor/models", { models: ["gpt-4o", "free"] });
  expect(added.body.models).toMatchObject({
    "gpt-4o": { upstream: "gpt-4o", context: 128_000, vision: true, price: { input: 2.5, output: 10 } },
    free: "free",
  });

  const known = await admin("GET", "/admin/providers/vendor/known-models");
  expect(known.body).toMatchObject({
    source: [
      expect.stringMatching(/^@pydantic\/genai-prices@/),
      expect.stringMatching(/^@tokenlens\/models@/),
    ],
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    currency: "USD",
    models: [
      { model: "gpt-4o", known: { id: "gpt-4o", price: { input: 2.5 } }, price: { input: 2.5 } },
      { model: "free", known: null, price: null },
    ],
  });
  expect((await admin("GET", "/admin/providers/none/known-models")).status).toBe(404);

  // The vendor's price stays with its models when the address changes.
  await admin("PUT", "/admin/providers/vendor", { base_url: backend.url });
  const whole = await running.chat("Hello", { model: "vendor/gpt-4o" });
  expect(await whole.json()).toMatchObject({ usage: { prompt_tokens: 1_000 } });
  expect(Number(whole.headers.get("x-gateway-cost"))).toBeCloseTo(expectedCost(), 12);
  const unpriced = await running.chat("Hello", { model: "vendor/free" });
  expect(unpriced.headers.get("x-gateway-cost")).toBeNull();
  const stream = await running.chat("Hello", { model: "vendor/gpt-4o", stream: true });
  expect(stream.headers.get("x-gateway-cost")).toBeNull();
  await stream.text();

  await expect
    .poll(async () => {
      const { body } = await admin("GET", "/admin/chat-history");
      return body.items.map(({ model, cost }) => [model, cost]);
    })
    .toEqual([
      ["vendor/gpt-4o", expect.closeTo(expectedCost(), 12)],
      ["vendor/free", null],
      ["vendor/gpt-4o", expect.closeTo(expectedCost(), 12)],
    ]);
});

it("keeps and counts prices that an administrator has edited", async () => {
  const edited = await admin("PUT", "/admin/providers/vendor/models/gpt-4o", {
    price: { input: 1_000, output: 0 },
  });
  expect(edited.status).toBe(200);
  await admin("POST", "/admin/providers/vendor/models", { models: ["gpt-4o"] });
  const answer = await running.chat("Hello", { model: "vendor/gpt-4o" });
  expect(answer.headers.get("x-gateway-cost")).toBe("1");
});
