import { describe, expect, it } from "vitest";
import { CorsPolicy } from "../../../../src/core/routing/cors.ts";
import { ROUTE_GROUPS } from "../../../support/route-groups.ts";

const cors = new CorsPolicy(ROUTE_GROUPS);

const declared = (list: string | null) =>
  cors
    .allowedHeaders(list)
    .split(", ")
    .map((name) => name.toLowerCase());

describe("allowed request headers", () => {
  it.each([
    "Content-Type",
    "Authorization",
    "X-API-Key",
    "X-Gateway-Target-Account",
    "X-Gateway-Source",
    "X-Gateway-Timeout",
    "X-Gateway-Retries",
    "X-Gateway-Fallback",
    "X-Hosting-Protection-Bypass",
    "X-Vendorc-Api-Key",
    "Vendorb-Version",
    "Vendorb-Beta",
    "X-Goog-Api-Key",
    "Anthropic-Version",
    "Anthropic-Beta",
  ])("always include %s", (name) => {
    expect(declared(null)).toContain(name.toLowerCase());
  });

  it("include third-party headers that the preflight declares", () => {
    expect(declared("x-stainless-os, X-Stainless-Arch")).toEqual(
      expect.arrayContaining(["x-stainless-os", "x-stainless-arch"]),
    );
    expect(declared(null)).not.toContain("x-stainless-os");
  });

  it.each(["X-Gateway-Internal-Token", "x-gateway-internal-token"])("never include %s", (name) => {
    expect(declared(`x-stainless-os, ${name}`)).not.toContain("x-gateway-internal-token");
  });

  it("omit invalid header names", () => {
    expect(cors.allowedHeaders("good, ba d, evil\r\nset-cookie: x")).not.toMatch(/ba d|\r|\n|set-cookie/);
  });
});

describe("preflight", () => {
  it("echoes the origin, and is 204 without a body", async () => {
    const response = cors.preflight(
      new Request("http://gateway/v1/models", {
        method: "OPTIONS",
        headers: { origin: "https://app.example" },
      }),
    );
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(response.headers.get("vary")).toContain("Origin");
    expect(await response.text()).toBe("");
  });

  it("lets pages of public sites reach a private network for the API, but not for the admin API", () => {
    const headers = { origin: "https://app.example", "access-control-request-private-network": "true" };
    const letIn = (path: string) =>
      cors
        .preflight(new Request(`http://gateway${path}`, { method: "OPTIONS", headers }))
        .headers.get("access-control-allow-private-network");
    expect(letIn("/v1/models")).toBe("true");
    expect(["/admin/config", "/admin/login", "/admin/"].map(letIn)).toEqual([null, null, null]);
  });

  it("allows any origin if the request has none", () => {
    const response = cors.preflight(new Request("http://gateway/v1/models", { method: "OPTIONS" }));
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("where CORS applies", () => {
  it.each([
    "/v1/models",
    "/vendorb/v1/messages",
    "/anthropic/v1/messages",
    "/v1beta/models/x:generateContent",
  ])("%s", (path) => expect(cors.appliesTo(path)).toBe(true));
  it.each(["/api/tags", "/admin/config", "/chat/completions", "/completions", "/files/f1"])("%s", (path) =>
    expect(cors.appliesTo(path)).toBe(true),
  );
  it.each(["/healthz", "/", "/modelsx"])("not %s", (path) => expect(cors.appliesTo(path)).toBe(false));
});
