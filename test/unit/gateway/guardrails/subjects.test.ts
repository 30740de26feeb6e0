import { expect, it } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

const make = useMemoryGateway();
const CHAT = "/v1/chat/completions";
const BODY = { model: "provider-v4-flash", messages: [{ role: "user", content: "About apollo" }] };
const createRule = () => ({
  id: "words",
  type: "expressions" as const,
  applies_to: "keys" as const,
  expressions: [{ pattern: "apollo" }],
});
const GUARDED = { id: "guarded", guardrails: ["words"] };

it.each([
  ["nothing", {}, {}, 200],
  ["the key", { guardrails: ["words"] }, {}, 400],
  ["its team", { team: "guarded" }, {}, 400],
  ["its user", { user: "guarded" }, {}, 400],
  ["another team", { team: "other" }, {}, 200],
  ["a tag of the request", {}, { "x-gateway-tags": "x,guarded" }, 400],
])("checks a rule that %s names", async (_, rules, headers: Record<string, string>, status) => {
  const gateway = await make({
    config: {
      keys: [],
      api_keys: [{ key: KEY, ...rules }],
      embeddings: { provider: "builtin" },
      teams: [GUARDED, { id: "other" }],
      users: [GUARDED],
      tags: [GUARDED],
      guardrails: { rules: [createRule()] },
    },
  });
  const answer = await gateway.post(CHAT, BODY, { headers });
  expect([answer.status, (await answer.text()).includes("content_filter")]).toEqual([status, status === 400]);
  const embedding = await gateway.post(
    "/v1/embeddings",
    { model: "text-embedding-3-small", input: "x" },
    { headers },
  );
  expect(embedding.status === 403).toBe(status === 400);
  await gateway.settle();
  await gateway.expectIdle();
});

it("denies a text in an unlisted model name", async () => {
  const gateway = await make({
    config: { keys: [], api_keys: [{ key: KEY, ...GUARDED }], guardrails: { rules: [createRule()] } },
  });
  const messages = [{ role: "user", content: "Hi" }];
  const answer = await gateway.post(CHAT, { model: "default/the apollo file", messages });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "content_filter" } }]);
  await gateway.settle();
  await gateway.expectIdle();
});
