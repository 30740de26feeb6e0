import { expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** The attempts of a request, as its record lists them. */

const createGateway = useMemoryGateway();

const ANSWER: Reply = {
  type: "application/json",
  body: [
    JSON.stringify({
      id: "c1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    }),
  ],
};

const fails = (status: number, message: string): Reply => ({ status, json: { error: { message } } });

async function attemptsOf(reply: (asked: UpstreamRequest) => Reply, native: boolean) {
  const vendor = { driver: "openai", base_url: "http://vendor.test/v1", native };
  const providers = ["one", "two"].map((id) => ({ ...vendor, id, token: `sk-${id}`, models: { m: "real" } }));
  const upstream = new ScriptedUpstream(reply);
  const model_routes = { both: ["one/m", "two/m"] };
  const gateway = await createGateway({ upstream, config: { providers, model_routes } });
  const response = await gateway.post("/v1/chat/completions", {
    model: "both",
    messages: [{ role: "user", content: "Hello?" }],
    seed: 1,
  });
  expect(await response.text()).toContain("Hi");
  const [record] = await gateway.history();
  return { sent: gateway.upstream.asked.length, record };
}

test.each([true, false])(
  "the record lists the attempts at several providers, and after a refused field (native: %s)",
  async (native) => {
    const { sent, record } = await attemptsOf(({ headers, body }) => {
      if (headers.get("authorization") === "Bearer sk-one") return fails(500, "broken");
      return body.includes('"seed"') ? fails(400, "Unsupported parameter: 'seed' is not supported") : ANSWER;
    }, native);
    expect(sent).toBe(3);
    const [first, second] = ["one", "two"].map((id) => ({ provider: id, account: `provider:${id}` }));
    expect(record).toMatchObject({
      upstream_attempts: [
        { ...first, cause: "", model: "one/m", status: 500, reason: "server_error" },
        { ...second, cause: "model", model: "two/m", status: 400, reason: "invalid_request" },
        { ...second, cause: "refused_field", model: "two/m", status: 0, reason: "" },
      ],
    });
  },
);

test("the record lists one attempt if nothing fails", async () => {
  const { record } = await attemptsOf(() => ANSWER, true);
  expect(record).toMatchObject({
    upstream_attempts: [{ cause: "", provider: "one", reason: "", ms: expect.any(Number) }],
  });
});
