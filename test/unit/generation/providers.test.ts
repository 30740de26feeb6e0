import { describe, expect, test } from "vitest";
import { eventBlocks } from "../../support/fault-body.ts";
import { passThrough, useMemoryGateway } from "../../support/memory-gateway.ts";
import type { Script } from "../../support/scripted-upstream.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";
import { completionsScript, inOnePiece, sessionsScript } from "../../support/upstream-scripts.ts";

const gateway = useMemoryGateway();

/** A provider of the sessions protocol, and beside it one that speaks chat completions at `backend.test`. */
function twoProviders(): ScriptedUpstream {
  const own = sessionsScript();
  const backend = completionsScript({
    turns: (asked) =>
      inOnePiece("chat-completions", asked, { body: eventBlocks("chat-completions", { text: "Hi." }) }),
  });
  const script: Script = (asked) => (asked.host === "backend.test" ? backend(asked) : own(asked));
  return new ScriptedUpstream(script);
}

const BACKEND = {
  id: "backend",
  driver: "openai",
  base_url: "http://backend.test/v1/",
  token: "sk-backend-token",
  models: { small: "qwen3:8b" },
  headers: { "x-team": "blue" },
};

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hello?" }] });

describe("a provider beside the default one", () => {
  test("answers for its models, by its own key, with its headers, in either way", async () => {
    const made = await gateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    for (const stream of [false, true]) {
      const response = await made.post("/v1/chat/completions", { ...ask("backend/llama3:70b"), stream });
      expect(await response.text()).toContain("Hi.");
    }
    const asked = made.upstream.asked.filter(({ host }) => host === "backend.test");
    expect(asked.map((request) => [request.path, request.token, request.headers.get("x-team")])).toEqual(
      Array(2).fill(["/v1/chat/completions", "sk-backend-token", "blue"]),
    );
    expect(asked[0]?.json()["model"]).toBe("llama3:70b");
    await made.post("/v1/chat/completions", ask("Backend/small"));
    expect(made.turns.at(-1)?.json()["model"]).toBe("qwen3:8b");
    expect(made.lines.map(({ provider, account }) => [provider, account])).toEqual(
      Array(3).fill(["backend", "provider:backend"]),
    );
  });

  test("leaves the default one as it was", async () => {
    const made = await gateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    const response = await made.post("/v1/chat/completions", ask("gpt-4o"));
    expect(await response.text()).toContain("Hello from upstream.");
    expect(new Set(made.upstream.asked.map(({ host }) => host))).toEqual(new Set(["upstream.test"]));
    expect(made.lines[0]).not.toHaveProperty("provider");
  });

  test("is not there while it is switched off, and an alias leads to it", async () => {
    const config = { providers: [BACKEND], model_aliases: { mine: "backend/small" } };
    const made = await gateway({ upstream: twoProviders(), config });
    expect((await made.post("/v1/chat/completions", ask("mine"))).status).toBe(200);
    expect(made.turns.at(-1)?.json()["model"]).toBe("qwen3:8b");
    const off = { ...config, providers: [{ ...BACKEND, enabled: false }] };
    const without = await gateway({ upstream: twoProviders(), config: off });
    for (const model of ["mine", "backend/small"]) {
      const response = await without.post("/v1/chat/completions", ask(model));
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining("model_not_found"),
      ]);
    }
  });

  test("never sees the token that a stranger brings for the default one", async () => {
    const made = await gateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    const headers = { authorization: `Bearer ${passThrough().credential}` };
    const response = await made.post("/v1/chat/completions", ask("backend/small"), { headers });
    expect(response.status).toBe(403);
    expect(made.upstream.asked).toEqual([]);
  });

  test("is waited for as long as it is said to be", async () => {
    const upstream = new ScriptedUpstream(() => "hang");
    const provider = { ...BACKEND, first_byte_timeout_ms: 40 };
    const made = await gateway({ upstream, config: { providers: [provider] } });
    const started = Date.now();
    const answer = made.post("/v1/chat/completions", { ...ask("backend/small"), stream: true });
    await made.settle();
    expect((await answer).status).toBe(503);
    const ended = made.lines[0]?.["duration_ms"];
    expect(Date.now() - started).toBeGreaterThanOrEqual(40);
    expect(ended).toBeLessThan(1_000);
  });
});
