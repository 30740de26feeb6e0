import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useGateway } from "../support/use-gateway.ts";

const { fetch, chat, post } = useGateway();
const metrics = async () => {
  const response = await fetch("/admin/metrics", { headers: { authorization: "Bearer admin" } });
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  return response.text();
};

/** The value of the series of a metric that has all of the labels, summed up; 0: there is none. */
function value(text: string, name: string, labels: Record<string, string> = {}): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
    if (!Object.entries(labels).every(([label, wanted]) => line.includes(`${label}="${wanted}"`))) continue;
    sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}

describe("GET /admin/metrics", () => {
  it("counts generations, tokens, retries, failures and the page service", async () => {
    await chat("[[say:counted]]");
    await chat("[[say:counted too]]", { stream: true }).then((response) => response.text());
    await post("/vendorb/v1/messages", {
      model: "modelb-sonnet-4-5",
      max_tokens: 10,
      messages: [{ role: "user", content: "x" }],
    });
    await chat("[[status:500:server_error]]");
    await chat("[[empty]]");
    await fetch("/v1/technologies?url=not-an-address");
    await fetch("/v1/models");
    const text = await until(
      metrics,
      (found) => value(found, "polygate_http_requests_total", { route: "/v1/models" }) > 0,
    );
    const flash = { dialect: "chat-completions", model: "provider-v4-flash" };
    expect(value(text, "polygate_generations_total", { ...flash, status: "200" })).toBe(3);
    expect(value(text, "polygate_generations_total", { ...flash, status: "503" })).toBe(1);
    expect(value(text, "polygate_generations_total", { dialect: "messages", status: "200" })).toBe(1);
    expect(value(text, "polygate_generation_retries_total")).toBeGreaterThanOrEqual(1);
    expect(value(text, "polygate_upstream_errors_total")).toBe(3);
    expect(value(text, "polygate_upstream_requests_total", { operation: "completion", status: "200" })).toBe(
      5,
    );
    expect(value(text, "polygate_upstream_requests_total", { operation: "completion", status: "500" })).toBe(
      3,
    );
    expect(value(text, "polygate_upstream_requests_total", { operation: "login" })).toBeGreaterThan(0);
    expect(value(text, "polygate_page_requests_total", { operation: "technologies", status: "400" })).toBe(1);
    expect(value(text, "gen_ai_server_request_duration_seconds_count")).toBe(5);
    expect(value(text, "gen_ai_server_time_to_first_token_seconds_count")).toBe(4);
    const input = { gen_ai_token_type: "input", gen_ai_operation_name: "chat" };
    expect(value(text, "gen_ai_client_token_usage_count", input)).toBe(4);
    expect(value(text, "gen_ai_client_token_usage_sum", input)).toBeGreaterThan(0);
    expect(value(text, "gen_ai_client_token_usage_sum", { gen_ai_token_type: "output" })).toBeGreaterThan(0);
    expect(value(text, "polygate_queue_wait_seconds_count")).toBe(5);
    expect(value(text, "polygate_accounts")).toBe(3);
  });

  it("shows slots while they are held", async () => {
    const streaming = chat("[[say:held]][[slow:500]]", { stream: true }).then((response) => response.text());
    await until(metrics, (text) => value(text, "polygate_slots_in_use") === 1);
    await streaming;
    await until(metrics, (text) => value(text, "polygate_slots_in_use") === 0);
  });

  it("counts a request for an unknown model under one name, also in usage", async () => {
    for (const model of ["no-such-model-1", "no-such-model-2"]) {
      expect((await chat("Hello", { model })).status).toBe(400);
    }
    const labels = { model: "unknown", status: "400", error: "model_not_found" };
    const text = await until(metrics, (found) => value(found, "polygate_generations_total", labels) === 2);
    expect(text).not.toContain("no-such-model");
    const usage = async () => {
      const path = "/admin/usage?granularity=total&group_by=requested_model,model,outcome&model=unknown";
      const response = await fetch(path, { headers: { authorization: "Bearer admin" } });
      const body: { items: unknown[] } = await response.json();
      return body.items;
    };
    const items = await until(usage, (found) => found.length > 0);
    expect(items).toMatchObject([{ requested_model: "unknown", outcome: "refused", requests: 2 }]);
  });

  it("requires an administrator", async () => {
    const response = await fetch("/admin/metrics");
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ detail: expect.any(String) });
  });
});
