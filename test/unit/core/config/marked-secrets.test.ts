import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  findSecrets,
  markPublic,
  markSecret,
  maskMarkedSecrets,
  visibilityOf,
} from "../../../../src/core/config/marked-secrets.ts";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { plantedConfigs } from "../../../support/planted-config.ts";

/** Texts whose names sound like a secret's and that are none. */
const PUBLIC: Readonly<Record<string, string>> = {
  "accounts[].auth.token_url": "an address without a password and a query",
  "accounts[].auth.access_key_id": "it only names a key, like a user name",
  "providers[].key_header": "the name of a header",
  "providers[].base_url": "an address without a password and a query",
  "sync.hash": "the hosting status shows it (docs/contract/admin-configuration.md)",
};
const SOUNDS_SECRET =
  /pass|secret|token|key|auth|header|hash|digest|cookie|credential|sign|url|owner|bearer|cert|pin\b|otp/i;

/** The places of texts that are not marked, each by the names on the way to it. */
function* unmarked(schema: z.core.$ZodType, place: string): Generator<string> {
  if (visibilityOf(schema) !== undefined) return;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    yield* unmarked(schema.unwrap(), place);
  else if (schema instanceof z.ZodPipe) yield* unmarked(schema.in, place);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* unmarked(option, place);
  else if (schema instanceof z.ZodArray) yield* unmarked(schema.element, `${place}[]`);
  else if (schema instanceof z.ZodRecord) yield* unmarked(schema.valueType, `${place}.*`);
  else if (schema instanceof z.ZodObject) {
    for (const [name, member] of Object.entries(schema.shape))
      yield* unmarked(member, place === "" ? name : `${place}.${name}`);
  } else if (schema instanceof z.ZodString) yield place;
}

/** The name of a text's field, or of the list or record that it is in. */
const nameOf = (place: string) =>
  place
    .replaceAll(/\[\]|\.\*/g, "")
    .split(".")
    .at(-1) ?? "";

const suspicious = (schema: z.core.$ZodType) =>
  [...unmarked(schema, "")].filter(
    (place) => SOUNDS_SECRET.test(nameOf(place)) && !Object.hasOwn(PUBLIC, place),
  );

describe("the marks of the configuration's schema", () => {
  it("exist on every text whose name is like that of a secret", () => {
    expect(suspicious(configSchema)).toEqual([]);
    expect([...unmarked(configSchema, "")]).toEqual(expect.arrayContaining(Object.keys(PUBLIC)));
  });

  it("are reported as missing by this test", () => {
    const forgotten = z.object({
      a: z.array(z.object({ client_secret: z.string(), b: z.record(z.string(), z.string()) })),
    });
    expect(suspicious(forgotten)).toEqual(["a[].client_secret"]);
    expect(suspicious(z.object({ headers: z.record(z.string(), z.string()) }).partial())).toEqual([
      "headers.*",
    ]);
  });
});

describe("a masked value", () => {
  it("hides every secret of a configuration, and shows everything else", () => {
    fc.assert(
      fc.property(plantedConfigs, ({ config: parsed, secrets }) => {
        expect(secrets.length).toBeGreaterThanOrEqual(15);
        const text = JSON.stringify(maskMarkedSecrets(configSchema, parsed));
        for (const planted of secrets) expect(text).not.toContain(planted);
        const found = [...findSecrets(configSchema, parsed)].map((one) => one.text);
        for (const planted of secrets) expect(found.some((one) => one.includes(planted))).toBe(true);
        // What is no secret is as it was.
        expect(maskMarkedSecrets(configSchema, parsed)).toMatchObject({
          runtime: parsed.runtime,
          proxies: parsed.proxies.map(({ id, host, username }) => ({ id, host, username })),
          providers: parsed.providers.map(({ id, base_url, models }) => ({ id, base_url, models })),
        });
      }),
      // A smaller configuration tells no more, and takes as long again.
      { numRuns: 10, endOnFailure: true },
    );
  });

  it("hides unknown fields of a later version, unless the schema marks them as public", () => {
    const schema = z.looseObject({
      known: z.string(),
      facts: markPublic(z.looseObject({})),
      either: z.union([z.string(), z.object({ pin: markSecret(z.string()) })]),
    });
    const value = {
      known: "k",
      facts: { new: "f" },
      either: { pin: "1234" },
      later: { deep: ["s", 1, true, null, ""] },
    };
    expect(maskMarkedSecrets(schema, value)).toEqual({
      known: "k",
      facts: { new: "f" },
      either: { pin: "****" },
      later: { deep: ["****", "****", "****", null, ""] },
    });
    expect(maskMarkedSecrets(schema, { either: "text" })).toEqual({ either: "text" });
  });

  it("has the form that its mark defines", () => {
    const form = (mark: "hidden" | "shortened" | "origin", text: string) =>
      maskMarkedSecrets(markSecret(z.string(), mark), text);
    expect(form("hidden", "a-password")).toBe("****");
    expect(form("shortened", "sk-0123456789abcdef")).toBe("sk-0****cdef");
    expect(form("origin", "https://chat.test/hooks/1?key=2")).toBe("https://chat.test/****");
    for (const mark of ["hidden", "shortened", "origin"] as const) expect(form(mark, "")).toBe("");
  });
});
