import { describe, expect, test } from "vitest";
import { eventBlocks } from "../../../support/fault-body.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript, inOnePiece } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const OPENAI = { PROVIDER_DRIVER: "openai" };

/** A backend with these models alone, which refuses others as such backends do. */
function backendWith(models: readonly string[], status = 404): ScriptedUpstream {
  return new ScriptedUpstream(
    completionsScript({
      other: ({ path }) =>
        path.endsWith("/models") ? { json: { data: models.map((id) => ({ id })) } } : undefined,
      turns: (asked) => {
        const model = String(asked.json()["model"]);
        if (models.includes(model)) {
          return inOnePiece("chat-completions", asked, {
            body: eventBlocks("chat-completions", { text: model }),
          });
        }
        return { status, json: { error: { message: `The model "${model}" was not found.` } } };
      },
    }),
  );
}

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hello?" }] });
const asked = ({ asked: all }: ScriptedUpstream) =>
  all.map(({ path, body }) => (path.endsWith("/models") ? "list" : JSON.parse(body).model));

describe("a backend without mapped models", () => {
  test.each([404, 400])(
    "answers with its only model, which is looked up once after a refusal with %i",
    async (status) => {
      const upstream = backendWith(["qwen3:8b", "nomic-embed-text"], status);
      const gateway = await createGateway({ upstream, env: OPENAI });
      for (const model of ["gpt-4o", "gpt-4o", "claude-sonnet-4-5"]) {
        const response = await gateway.post("/v1/chat/completions", ask(model));
        expect(await response.text()).toContain("qwen3:8b");
      }
      expect(asked(upstream)).toEqual(["provider-v4-flash", "list", "qwen3:8b", "qwen3:8b", "qwen3:8b"]);
    },
  );

  test("receives its own name of a model", async () => {
    const upstream = backendWith(["qwen3:8b", "llama3:70b"]);
    const gateway = await createGateway({ upstream, env: OPENAI });
    for (const model of ["llama3:70b", "qwen3:8b"]) {
      expect(await (await gateway.post("/v1/chat/completions", ask(model))).text()).toContain(model);
    }
  });

  test("has its names listed in the error if none matches, and is asked for them only once", async () => {
    const upstream = backendWith(["qwen3:8b", "llama3:70b"]);
    const gateway = await createGateway({ upstream, env: OPENAI });
    for (let time = 0; time < 2; time += 1) {
      const response = await gateway.post("/v1/chat/completions", ask("gpt-4o"));
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(
        "the provider has qwen3:8b, llama3:70b: ask for one as default/qwen3:8b, or map the name in PROVIDER_MODELS",
      );
    }
    expect(asked(upstream)).toEqual(["provider-v4-flash", "list", "provider-v4-flash"]);
  });

  test("is not asked for its names if it has the model or the name is mapped", async () => {
    const upstream = backendWith(["provider-v4-flash", "big"]);
    const env = { ...OPENAI, PROVIDER_MODELS: '{"provider-v4-pro":"big"}' };
    const gateway = await createGateway({ upstream, env });
    for (const model of ["provider-v4-flash", "provider-v4-pro"]) {
      expect((await gateway.post("/v1/chat/completions", ask(model))).status).toBe(200);
    }
    expect(asked(upstream)).toEqual(["provider-v4-flash", "big"]);
  });

  test("has its names listed in the error if PROVIDER_MODELS names another one", async () => {
    const upstream = backendWith(["qwen3:8b", "llama3:70b"]);
    const env = { ...OPENAI, PROVIDER_MODELS: '{"provider-v4-flash":"qwen3"}' };
    const gateway = await createGateway({ upstream, env });
    const response = await gateway.post("/v1/chat/completions", ask("gpt-4o"));
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(
      "the provider has qwen3:8b, llama3:70b: PROVIDER_MODELS maps provider-v4-flash to qwen3",
    );
    expect(asked(upstream)).toEqual(["qwen3", "list"]);
  });

  test("receives unknown names only if a setting allows it", async () => {
    const upstream = backendWith(["my-own:13b", "another"]);
    const refused = await createGateway({ upstream, env: OPENAI });
    expect((await refused.post("/v1/chat/completions", ask("my-own:13b"))).status).toBe(400);
    expect(upstream.asked).toEqual([]);
    const config = { unknown_models: { provider: "default" } };
    const gateway = await createGateway({ upstream, env: OPENAI, config });
    expect(await (await gateway.post("/v1/chat/completions", ask("my-own:13b"))).text()).toContain(
      "my-own:13b",
    );
  });

  test("receives the name after default/ unchanged, in every style", async () => {
    const upstream = backendWith(["llama3.2"]);
    const gateway = await createGateway({ upstream, env: OPENAI });
    const { messages } = ask("");
    const model = "default/llama3.2";
    for (const [path, body] of [
      ["/v1/chat/completions", { model, messages }],
      ["/v1/messages", { model, messages, max_tokens: 9 }],
      ["/v1/responses", { model, input: "Hello?" }],
      [`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: "Hello?" }] }] }],
    ] as const) {
      const response = await gateway.post(path, body);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("llama3.2");
    }
    expect(asked(upstream)).toEqual(Array.from({ length: 4 }, () => "llama3.2"));
    const other = await gateway.post("/v1/chat/completions", ask("default/llama3.3"));
    expect(other.status).toBe(404);
    expect(await other.text()).toContain("the provider has llama3.2");
  });

  test("has its model named default/name in the history and in keys", async () => {
    const gateway = await createGateway({
      upstream: backendWith(["llama3.2", "gpt-4o"]),
      env: OPENAI,
      config: { keys: [], api_keys: [{ key: KEY, models: ["gpt-4o", "default/llama3.2"] }] },
    });
    expect((await gateway.post("/v1/chat/completions", ask("default/llama3.2"))).status).toBe(200);
    // The key may use the gateway's `gpt-4o`, which another model of the engine may serve.
    expect((await gateway.post("/v1/chat/completions", ask("default/gpt-4o"))).status).toBe(403);
    expect(await gateway.history()).toMatchObject([
      { error_code: "permission_denied", requested_model: "default/gpt-4o" },
      { model: "default/llama3.2", requested_model: "default/llama3.2", status: "success" },
    ]);
  });

  test("is suggested in the error of an unknown name", async () => {
    const gateway = await createGateway({ upstream: backendWith(["llama3.2"]), env: OPENAI });
    const response = await gateway.post("/v1/chat/completions", ask("my-own:13b"));
    expect(response.status).toBe(400);
    const { error } = Object(await response.json());
    expect(error).toMatchObject({ code: "model_not_found", param: "model", type: "invalid_request_error" });
    expect(error.message).toBe(
      'the model "my-own:13b" does not exist: GET /v1/models lists the models, and "default/my-own:13b" is the model of this name at the default provider',
    );
  });
});
