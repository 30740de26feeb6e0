import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listSetupSteps } from "../../../../src/operator/console/pages/overview/setup-steps.ts";
import {
  listAgentSnippets,
  listBaseAddresses,
  listSdkSnippets,
} from "../../../../src/operator/console/shared/snippets.ts";

const ORIGIN = "http://127.0.0.1:8787";
const EXAMPLE = { origin: ORIGIN, key: "sk-dev", model: "gpt-4o" };

describe("the snippets of the console", () => {
  it("use the base addresses and variables of the guide", () => {
    const guide = readFileSync("docs/connect.md", "utf8");
    for (const [, address] of listBaseAddresses(ORIGIN)) expect(guide).toContain(`\`${address}\``);
    const names = (text: string) =>
      text.match(/\b(?:[A-Z]+_)+[A-Z]+\b|baseU(?:RL|rl)|base_url|api_key|apiKey/g);
    for (const { text } of [...listSdkSnippets(EXAMPLE), ...listAgentSnippets(EXAMPLE)])
      for (const name of names(text) ?? []) expect(guide).toContain(name);
  });

  it("keep any key unchanged, in a shell and in JSON", () => {
    const value = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[\0\r\n]/.test(text));
    fc.assert(
      fc.property(value, value, (key, model) => {
        const connection = { origin: ORIGIN, key: `k${key}`, model: `m${model}` };
        const [claude] = listAgentSnippets(connection);
        const settings = (claude?.text ?? "").split("\n").slice(0, 2).join("\n");
        const script = `${settings}\nprintf %s "$ANTHROPIC_API_KEY"`;
        expect(execFileSync("sh", ["-c", script], { encoding: "utf8" })).toBe(connection.key);
        const opencode = listAgentSnippets(connection).find(({ id }) => id === "opencode");
        expect(JSON.parse(opencode?.text ?? "")).toMatchObject({
          provider: { polygate: { options: { apiKey: connection.key } } },
        });
      }),
      { numRuns: 20 },
    );
  });
});

describe("the steps of the set-up", () => {
  it("are completed independently", () => {
    const isDone = (state: Partial<Parameters<typeof listSetupSteps>[0]>) =>
      listSetupSteps({ providers: 0, models: 0, keys: 0, hasRequest: false, ...state }).map(
        (step) => step.isDone,
      );
    expect(isDone({})).toEqual([false, false, false, false]);
    expect(isDone({ providers: 1, keys: 2 })).toEqual([true, false, true, false]);
    const steps = listSetupSteps({
      providers: 1,
      models: 0,
      withoutModels: "vllm",
      keys: 0,
      hasRequest: false,
    });
    expect(steps[1]).toMatchObject({ page: "providers", detail: "vllm", isDone: false });
    expect(isDone({ providers: 1, models: 3, keys: 2, hasRequest: true })).not.toContain(false);
  });
});
