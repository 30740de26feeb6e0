import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveModel } from "../../../../src/gateway/models/resolve-model.ts";

/** Models that do something else than chat, are for invited users, or are retired. */
const ELSEWHERE =
  /audio|tts|image|banana|live|transcribe|embedding|veo|lyria|imagen|computer-use|realtime|decision|robotics|deep-research-(?:max|preview|pro)|cyber|rosalind|daybreak|gpt-3\.5/;

/** The string literals of the type that an SDK lists its models in. */
function namesIn(file: string, type: RegExp): string[] {
  const path = join(import.meta.dirname, "../../../../node_modules", file);
  const declarations = readFileSync(path, "utf8").match(type) ?? [];
  return declarations.flatMap((text) =>
    [...text.matchAll(/['"]([\w.:-]+)['"]/g)].map(([, name]) => name ?? ""),
  );
}

describe("the default aliases", () => {
  it.each([
    ["openai", "openai/resources/shared.d.ts", /type ChatModel = [^;]*/g],
    ["anthropic", "@anthropic-ai/sdk/resources/messages/messages.d.ts", /type Model = [^;]*/g],
    [
      "google",
      "@ai-sdk/google/dist/index.d.ts",
      /(?<=declare const languageModelDefinitions: \{)[\s\S]*?\n\};/g,
    ],
  ])("include every chat model that the %s SDK lists", (_, file, type) => {
    const names = namesIn(file, type).filter((name) => !ELSEWHERE.test(name));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(() => resolveModel(name, {})).not.toThrow();
  });
});
