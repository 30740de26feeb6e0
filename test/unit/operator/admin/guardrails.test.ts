import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_ENV, callAdmin } from "../../../support/memory-admin.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";

const createGateway = useMemoryGateway();

const WORDS = { id: "words", type: "expressions", expressions: [{ pattern: "apollo" }] };
const HOOK = {
  id: "hook",
  type: "webhook",
  url: "https://moderate.example/secret-path",
  token: "sk-moderate-secret",
};
const MASK = {
  id: "mask",
  type: "expressions",
  expressions: [{ pattern: "apollo", action: "mask", replacement: "[name]" }],
};

describe("guardrails that an administrator edits", () => {
  let gateway: MemoryGateway;
  /** What the webhook was asked, and what it answers. */
  let asked: { readonly authorization: string | null; readonly input: unknown }[];
  let answer: () => Response;

  beforeEach(async () => {
    asked = [];
    answer = () => Response.json({ results: [{ flagged: false }] });
    gateway = await createGateway({
      env: ADMIN_ENV,
      fetch: async (url, init) => {
        const request = new Request(url, init);
        const { input }: { input: unknown } = JSON.parse(await request.text());
        asked.push({ authorization: request.headers.get("authorization"), input });
        return answer();
      },
    });
  });

  const view = async () => (await callAdmin(gateway, "GET", "/guardrails")).body;
  const put = (body: object, headers = {}) => callAdmin(gateway, "PUT", "/guardrails", body, headers);
  const check = async (body: object) => (await callAdmin(gateway, "POST", "/guardrails/check", body)).body;

  test("keep the secrets of a webhook when its view is sent back, but not for another address", async () => {
    expect((await put({ rules: [WORDS, HOOK] })).status).toBe(200);
    const shown = await view();
    expect(shown).toMatchObject({ rules: [{ id: "words" }, { id: "hook", has_token: true }] });
    expect(JSON.stringify(shown)).not.toContain("secret");
    expect((await put(shown)).status).toBe(200);
    const stored = async () => (await gateway.platform.configuration.read()).config.guardrails.rules[1];
    expect(await stored()).toMatchObject({ url: HOOK.url, token: HOOK.token });
    await put({ rules: [WORDS, { ...HOOK, token: undefined, url: "https://other.example/" }] });
    expect(await stored()).toMatchObject({ url: "https://other.example/", token: "" });
  });

  test.each([
    [{ type: "expressions", expressions: [{ pattern: "(?=a)" }] }, "rules[0].expressions[0].pattern"],
    [{ type: "expressions" }, "rules[0].expressions"],
    [{ type: "size" }, "rules[0].max_chars"],
    [{ type: "webhook", url: "http://10.0.0.1/" }, "rules[0].url"],
    [{ type: "webhook", url: "https://moderate.example/", colour: "red" }, "colour"],
  ])("that could never be checked are refused: %j", async (fields, param) => {
    const refused = await put({ rules: [{ id: "new", ...fields }] });
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining(param) } });
    expect(await view()).toMatchObject({ rules: [] });
  });

  test("have unique ids, and no edit overwrites another", async () => {
    expect((await put({ rules: [WORDS, WORDS] })).status).toBe(400);
    const { headers } = await callAdmin(gateway, "GET", "/guardrails");
    const tag = headers.get("etag") ?? "";
    expect((await put({ rules: [WORDS] }, { "if-match": tag })).status).toBe(200);
    expect((await put({ rules: [] }, { "if-match": tag })).status).toBe(412);
    expect(await view()).toMatchObject({ rules: [{ id: "words" }] });
  });

  test("keep what is not sent, and answer a removal with the version that restores the rule", async () => {
    await put({ rules: [WORDS], unchecked_endpoints: "allow" });
    const kept = await put({ private_hosts: ["10.0.0.1:80"] });
    expect(kept.headers.get("etag")).toBeNull();
    expect(await view()).toMatchObject({
      rules: [{ id: "words" }],
      unchecked_endpoints: "allow",
      private_hosts: ["10.0.0.1:80"],
    });
    expect((await put({ rules: [] })).headers.get("etag")).toMatch(/^"\d+"$/);
  });

  test("are tried on a text before they are saved, for a request or an answer", async () => {
    const rules = [{ ...MASK, stage: "after" }];
    expect(await check({ text: "apollo", rules })).toMatchObject({ masked: false, text: "apollo" });
    expect(await check({ text: "apollo", rules, stage: "after" })).toMatchObject({
      allowed: true,
      masked: true,
      text: "[name]",
    });
    expect(await check({ text: "apollo", rules: [{ ...MASK, disabled: true }] })).toMatchObject({
      masked: false,
    });
    expect(await check({ text: "apollo", rules: [WORDS] })).toMatchObject({
      allowed: false,
      text: "",
      message: expect.stringContaining("words"),
    });
    expect(await check({ text: "x", rules: [{ ...WORDS, expressions: [{ pattern: "(" }] }] })).toMatchObject({
      detail: expect.stringContaining("rules[0].expressions[0].pattern"),
    });
    expect(await view()).toMatchObject({ rules: [] });
  });

  test.each([
    ["flags nothing", () => Response.json({ results: [{ flagged: false }] }), true, true],
    ["flags the text", () => Response.json({ results: [{ flagged: true }] }), false, false],
    ["is broken", () => new Response("", { status: 500 }), false, true],
    ["answers no JSON", () => new Response("<html>"), false, true],
    ["answers no results", () => Response.json({ results: [] }), false, true],
    ["answers no verdict", () => Response.json({ results: [{ flagged: "yes" }] }), false, true],
    ["answers too much", () => new Response(`{"results":"${"x".repeat(1_000_001)}"}`), false, true],
  ])("deny or allow as configured if the webhook %s", async (_, answers, isAllowed, isAllowedOnFailure) => {
    answer = answers;
    const verdicts = [];
    for (const on_failure of ["deny", "allow"])
      verdicts.push((await check({ text: "peace", rules: [{ ...HOOK, on_failure }] }))["allowed"]);
    expect(verdicts).toEqual([isAllowed, isAllowedOnFailure]);
    expect(asked).toEqual(Array(2).fill({ input: ["peace"], authorization: `Bearer ${HOOK.token}` }));
  });
});
