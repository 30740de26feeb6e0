import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";

describe("a time of the configuration", () => {
  it("is limited to the last time that a date can have", () => {
    const [key] = configSchema.parse({ api_keys: [{ key: "a", expires: Number.MAX_SAFE_INTEGER }] }).api_keys;
    expect(new Date(key?.expires ?? 0).toISOString()).toBe("+275760-09-13T00:00:00.000Z");
  });
});
