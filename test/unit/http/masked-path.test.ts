import { describe, expect, it } from "vitest";
import { maskedPath } from "../../../src/http/masked-path.ts";

describe("a path that is shown", () => {
  it.each([
    "/admin/keys/sk-secret",
    "/admin/accounts/token:secret/proxy",
    "/admin//keys/sk-secret",
    "//admin/accounts//secret@host",
    "/Admin/Keys/sk-secret",
    "/admin/%6Beys/sk-secret",
    "/admin%2Fkeys%2Fsk-secret",
    "/admin%252Fkeys%252Fsk-secret",
    "/gateway/admin/keys/sk-secret",
    "/v1/jobs/sk-secret/results/0",
    "/v1beta/models/x:generateContent%3Fkey=sk-secret",
    "/v1beta/models/x:generateContent%3Falt=sse%26api_key%3Dsk-secret",
  ])("does not tell what %s names", (path) => {
    expect(maskedPath(path)).not.toContain("secret");
  });

  it("is as it came otherwise, but not at any length", () => {
    expect(maskedPath("/admin/keys")).toBe("/admin/keys");
    expect(maskedPath("/v1/models/x")).toBe("/v1/models/x");
    expect(maskedPath(`/${"a".repeat(60_000)}`).length).toBeLessThan(600);
  });
});
