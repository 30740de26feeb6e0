import { describe, expect, it } from "vitest";
import { ENTRY_ID_RULE, SUBJECT_ID_RULE } from "../../../../src/core/config/entry-id.ts";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import { subjectEntrySchema } from "../../../../src/core/config/schemas/subject-schema.ts";

const provider = (id: unknown) =>
  providerSchema.safeParse({ id, driver: "openai", base_url: "http://engine.test/v1" });
const subject = (id: unknown) => subjectEntrySchema.safeParse({ id });
const guardrail = (id: unknown) => guardrailSchema.safeParse({ id, type: "size" });
const messageOf = ({ error }: ReturnType<typeof provider | typeof subject | typeof guardrail>) =>
  error?.issues[0]?.message;

describe("the error of an id", () => {
  it.each(["", "a/b", "a b", "-a", "a-", "ä", "a".repeat(65), "a,b"])(
    "of a provider states the allowed characters: %j",
    (id) => expect(messageOf(provider(id))).toBe(ENTRY_ID_RULE),
  );

  it.each(["", "a/b", "a b", "-a", "ä", "a".repeat(65), "a,b"])(
    "of a team, user, tag or administrator uses the same words: %j",
    (id) => expect(messageOf(subject(id))).toBe(SUBJECT_ID_RULE),
  );

  it.each(["", "a/b", "a b", "ä", "a".repeat(65)])("of a guardrail uses the same words: %j", (id) =>
    expect(messageOf(guardrail(id))).toBe(ENTRY_ID_RULE),
  );

  it("states that an id is required, and that `default` is reserved", () => {
    expect([messageOf(provider(undefined)), messageOf(subject(5))]).toEqual([
      "an id is needed",
      "an id is needed",
    ]);
    for (const id of ["default", "Default"])
      expect(messageOf(provider(id))).toContain("the provider that the variables name: choose another id");
  });
});

it("stored ids of earlier versions stay valid", () => {
  const stored = {
    proxies: [{ id: "Büro / 1", type: "http", host: "proxy.test", port: 1 }],
    teams: [{ id: "a@b+c=d:e" }],
    guardrails: { rules: [{ id: "_.-", type: "size" }] },
  };
  expect(configSchema.safeParse(stored).error).toBeUndefined();
});
