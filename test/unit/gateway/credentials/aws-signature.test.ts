import { describe, expect, test } from "vitest";
import { signAwsRequest } from "../../../../src/gateway/credentials/aws-signature.ts";
import { findSignatureFault } from "../../../support/aws-signature.ts";

const KEYS = {
  accessKeyId: "AKIDEXAMPLE0123",
  secretAccessKey: "aws-secret-key/with+signs=0123456789",
  region: "us-east-1",
  service: "bedrock",
};
const TOKEN = {
  access_key_id: KEYS.accessKeyId,
  secret_access_key: KEYS.secretAccessKey,
  region: KEYS.region,
  service: KEYS.service,
};
const ORIGIN = "https://bedrock.example";

/** Signs a request. Returns why AWS would refuse it, and the request. */
async function sign(target: string, init: RequestInit | undefined, token: object = TOKEN) {
  const signed = await signAwsRequest(JSON.stringify(token), ORIGIN + target, init);
  const request = new Request(ORIGIN + target, signed);
  const headers = { ...Object.fromEntries(request.headers), host: new URL(ORIGIN).host };
  const body = Buffer.from(await request.arrayBuffer());
  const fault = findSignatureFault({ method: request.method, target, headers, body }, KEYS);
  return { fault, headers: request.headers, body: body.toString() };
}

const form = () => {
  const data = new FormData();
  data.set("file", new Blob(["x"]), "a.txt");
  return data;
};
const stream = () => new Blob(["one ", "two"]).stream();

describe("a signed request", () => {
  test.each<[string, string, RequestInit | undefined]>([
    ["without a body", "/models?b=2&a=1", undefined],
    ["with a text", "/model/a%3Ab/invoke", { method: "POST", body: '{"text":"ü"}' }],
    ["with bytes", "/x", { method: "PUT", body: Uint8Array.of(0, 254, 255) }],
    ["with a stream", "/x", { method: "POST", body: stream() }],
    ["with a form", "/x", { method: "POST", body: form() }],
  ])("is accepted: %s", async (_, target, init) => {
    expect((await sign(target, init)).fault).toBe("");
  });

  test("has its own headers and body, and the media type of its form", async () => {
    const headers = { "content-type": "text/x", "x-own": "1", host: "elsewhere.example" };
    const own = await sign("/x", { method: "POST", body: stream(), headers });
    expect([own.body, own.headers.get("x-own"), own.headers.get("content-type")]).toEqual([
      "one two",
      "1",
      "text/x",
    ]);
    // The runtime sets the host itself.
    expect(own.headers.has("host")).toBe(false);
    const sent = await sign("/x", { method: "POST", body: form() });
    expect(sent.headers.get("content-type")).toMatch(/^multipart\/form-data; boundary=/);
  });

  test("includes the session token in its signature", async () => {
    const { fault, headers } = await sign("/x", undefined, { ...TOKEN, session_token: "session" });
    expect([fault, headers.get("x-amz-security-token")]).toEqual(["", "session"]);
  });

  test("is refused with other keys, and if it is too long", async () => {
    expect((await sign("/x", undefined, { ...TOKEN, secret_access_key: "other" })).fault).not.toBe("");
    const body = new Blob([new Uint8Array(33 * 1024 * 1024)]).stream();
    await expect(sign("/x", { method: "POST", body })).rejects.toMatchObject({ status: 413 });
  });
});
