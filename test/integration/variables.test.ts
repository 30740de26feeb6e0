import { describe, expect, it } from "vitest";
import { startMiniflare } from "../support/miniflare.ts";

describe("an invalid variable", () => {
  it("prevents the start of the Worker, with a sentence that states why", async () => {
    await expect(startMiniflare({ vars: { PROVIDER_DRIVER: "foo" } })).rejects.toThrow(
      /PROVIDER_DRIVER is .*foo.*: it must be one of sessions, openai/,
    );
  });
});
