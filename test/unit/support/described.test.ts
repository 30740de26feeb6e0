import { describe, expect, it } from "vitest";
import { expectDescribed } from "../../support/described.ts";

const MODEL = { id: "a", object: "model", created: 1, owned_by: "provider", permission: [] };

const held = (response: Response, path = "/v1/models/a", method = "GET") =>
  expectDescribed(method, new URL(path, "http://gateway"), response);

describe("what answers of the gateway are held to", () => {
  it("lets an answer pass that is as described, and leaves it to be read", async () => {
    const response = Response.json(MODEL);
    await held(response);
    expect(await response.json()).toEqual(MODEL);
  });

  it.each([
    ["a member that is not described", { ...MODEL, secret: 1 }, "body/secret: is not described"],
    [
      "a member that is missing",
      { ...MODEL, id: undefined },
      'body: Instance does not have required property "id"',
    ],
    [
      "a member of another type",
      { ...MODEL, created: "now" },
      'body/created: Instance type "string" is invalid',
    ],
    ["a member further in", { ...MODEL, permission: [1] }, "body/permission"],
  ])("finds %s", async (_, body, fault) => {
    const message = `GET /v1/models/:model+ answered 200 other than described: ${fault}`;
    await expect(held(Response.json(body))).rejects.toThrow(message);
  });

  it("finds another media type, another status and what is no JSON", async () => {
    await expect(held(new Response("a"))).rejects.toThrow('"text/plain" is not among application/json');
    await expect(held(new Response(null, { status: 204 }))).rejects.toThrow("only 200 is described");
    const cut = new Response("{", { headers: { "content-type": "application/json" } });
    await expect(held(cut)).rejects.toThrow("the body is no JSON");
  });

  it("holds errors to the shape of their family, also where there is no route", async () => {
    const detail = () => Response.json({ detail: "no" }, { status: 404 });
    await held(detail(), "/admin/nothing");
    await held(detail(), "/admin/settings", "DELETE");
    await expect(held(detail(), "/v1/nothing")).rejects.toThrow(
      "GET /v1/nothing answered 404 other than described: body/detail: is not described",
    );
    await expect(held(detail())).rejects.toThrow("body/detail: is not described");
  });

  it("does not read streams", async () => {
    let pulled = false;
    const body = new ReadableStream(
      {
        pull: () => {
          pulled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { "content-type": "text/event-stream" };
    await held(new Response(body, { headers }), "/v1/chat/completions", "POST");
    expect(pulled).toBe(false);
  });
});
