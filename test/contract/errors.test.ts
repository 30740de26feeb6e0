import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const { chat } = useGateway();

describe("status codes and conditions", () => {
  it.each([
    ["[[status:503:model_unavailable]]", 503, "model_unavailable"],
    ["[[status:500:oops]]", 503, "upstream_error"],
    ["[[status:400:invalid_request]]", 400, "invalid_request"],
    ["[[garbage:0]]", 503, "upstream_error"],
    ["[[cut:0]]", 503, "upstream_error"],
  ])("an upstream that answers %s: %d %s", async (directive, status, code) => {
    const response = await chat(`${directive} hello`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, message: expect.any(String) } });
  });

  it("a token that has expired is renewed once, and the request succeeds", async () => {
    expect((await chat("[[expired]] hello")).status).toBe(200);
  });

  it("answers 401 for a token that stays expired", async () => {
    expect((await chat("[[expired:always]] hello")).status).toBe(401);
  });
});
