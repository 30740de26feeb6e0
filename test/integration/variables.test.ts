import { describe, expect, it } from "vitest";
import { startMiniflare } from "../support/miniflare.ts";

describe("a variable that is not what it may be", () => {
  it("keeps the Worker from starting, with a sentence that says why", async () => {
    await expect(startMiniflare({ vars: { PROVIDER_DRIVER: "foo" } })).rejects.toThrow(
      /PROVIDER_DRIVER is .*foo.*: it must be one of sessions, openai/,
    );
  });
});
