import { expect, it } from "vitest";
import { useMemoryGateway } from "../../support/memory-gateway.ts";
import { fakeBrowser } from "../../support/page-browser.ts";

const createGateway = useMemoryGateway();
const LARGE = "x".repeat(1_100_000);
const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) => ({
  method: "POST",
  headers,
  body,
});

it.each<[string, RequestInit, number, string, string | null]>([
  ["JSON that is none", post("{"), 400, "invalid json", "100"],
  ["JSON of another type", post("[]"), 400, "invalid_request", "100"],
  ["text of another type", post("x", { "content-type": "text/plain" }), 400, "invalid json", "100"],
  ["another method", { method: "PUT" }, 405, "method_not_allowed", null],
  ["large JSON", post(JSON.stringify({ html: LARGE })), 413, "request_too_large", "100"],
  ["a large document", post(LARGE, { "content-type": "text/html" }), 413, "request_too_large", "100"],
  [
    "an unknown coding",
    post("x", { "content-type": "text/html", "content-encoding": "br" }),
    415,
    "invalid_request",
    "100",
  ],
])("the page service refuses %s as its contract says", async (_, init, status, code, rateLimit) => {
  const gateway = await createGateway({ pages: { browser: fakeBrowser() }, config: {} });
  for (const operation of ["thumbs", "technologies", "metadata", "content"]) {
    const response = await gateway.request(`/v1/${operation}`, init);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { code, message: expect.any(String), type: "invalid_request_error", param: null },
    });
    expect(response.headers.get("ratelimit-limit")).toBe(rateLimit);
    if (status === 405) expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  }
});
