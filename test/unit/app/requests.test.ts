import { describe, expect, test } from "vitest";
import { BodyReader } from "../../support/body-reader.ts";
import { pass, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { beginsThen, refuses, says } from "../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const CHAT = { model: "provider-v4-flash", messages: [{ role: "user", content: "What is my PIN?" }] };
const PATH = "/v1/chat/completions";

describe("every answer names its request", () => {
  test.each([
    ["a success", "/v1/models", 200],
    ["a refusal", "/v1/files/x", 401],
    ["nothing there", "/nothing", 404],
    ["a probe", "/healthz", 200],
  ])("with an id of its own: %s", async (_, path, status) => {
    const gateway = await createGateway();
    const response = await gateway.request(path);
    expect(response.status).toBe(status);
    const id = response.headers.get("x-request-id");
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(gateway.lines).toMatchObject([{ request_id: id, path, status }]);
  });

  test("with a different id for each request", async () => {
    const gateway = await createGateway();
    const ids = await Promise.all(
      [1, 2].map(async () => (await gateway.request("/healthz")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test("with the caller's id if it is valid", async () => {
    const gateway = await createGateway();
    const headers = { "x-request-id": "trace:1.a-b_c" };
    expect((await gateway.request("/healthz", { headers })).headers.get("x-request-id")).toBe(
      "trace:1.a-b_c",
    );
  });

  test.each(["", "two words", "a".repeat(129), 'quote"', "a/b"])(
    "but not with the invalid id %j",
    async (given) => {
      const gateway = await createGateway();
      const response = await gateway.request("/healthz", { headers: { "x-request-id": given } });
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    },
  );

  test("also for a stream", async () => {
    const gateway = await createGateway();
    const response = await gateway.post(PATH, { ...CHAT, stream: true });
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    await response.text();
  });
});

describe("every request writes one line", () => {
  test("that states the request and its outcome", async () => {
    const gateway = await createGateway();
    const response = await gateway.request("/v1/models/provider-v4-pro");
    expect(gateway.lines).toEqual([
      {
        at: "2027-01-15T08:00:00.000Z",
        request_id: response.headers.get("x-request-id"),
        method: "GET",
        path: "/v1/models/provider-v4-pro",
        status: 200,
        duration_ms: 0,
        route: "/v1/models/:model+",
      },
    ]);
  });

  test("which has the style, model, account, waits and tokens of a generation", async () => {
    const gateway = await createGateway({ turns: [{ late: 3_000, reply: says("Hi") }] });
    const answer = gateway.post(PATH, CHAT);
    await pass(3_000);
    expect((await answer).status).toBe(200);
    expect(gateway.lines).toMatchObject([
      {
        route: PATH,
        status: 200,
        duration_ms: 3_000,
        dialect: "chat-completions",
        model: "provider-v4-flash",
        stream: false,
        account: "one@test",
        queue_ms: 0,
        first_token_ms: 3_000,
        prompt_tokens: 7,
        completion_tokens: 5,
      },
    ]);
  });

  test("which states how a stream ended, at its end", async () => {
    const gateway = await createGateway({ turns: [beginsThen("One", { pause: 4_000 }, "reset")] });
    const reader = new BodyReader(await gateway.post(PATH, { ...CHAT, stream: true }));
    await pass(3_999);
    expect(gateway.lines).toEqual([]);
    await pass(1);
    expect(reader.state).toBe("ended");
    expect(gateway.lines).toMatchObject([
      { status: 200, stream: true, duration_ms: 4_000, error: "upstream_error" },
    ]);
  });

  test("which has the code of a failure", async () => {
    const gateway = await createGateway({ turns: [refuses(400, "invalid_request")] });
    await gateway.post(PATH, CHAT);
    expect(gateway.lines).toMatchObject([{ status: 400, error: "invalid_request" }]);
  });

  test("without conversation texts and secrets, wherever they were", async () => {
    const gateway = await createGateway({
      env: { ADMIN_KEY: "an-admin-key" },
      turns: [says("Your PIN is 1234.")],
    });
    await gateway.post(`${PATH}?key=sk-in-query`, CHAT);
    await gateway.request("/v1/nothing?key=sk-in-query");
    await gateway.request("/admin/keys/sk-in-path", { method: "DELETE" });
    await gateway.request("/admin/accounts/somebody@example.com", { method: "DELETE" });
    expect(gateway.lines).toHaveLength(4);
    expect(JSON.stringify(gateway.lines)).not.toMatch(/PIN|1234|sk-|somebody/);
  });

  test("beside a count by route in the metrics, which omits probes", async () => {
    const gateway = await createGateway();
    await gateway.request("/v1/models");
    await gateway.request("/healthz");
    await gateway.settle();
    const requests = Object.entries(await gateway.platform.archive.readMetrics()).filter(([name]) =>
      name.includes("requests_total{"),
    );
    expect(requests).toEqual([[expect.stringContaining('route="/v1/models"'), 1]]);
  });
});

describe("HEAD", () => {
  test.each(["/healthz", "/v1/models", "/nothing"])("answers like GET without a body: %s", async (path) => {
    const gateway = await createGateway();
    const [head, get] = [await gateway.request(path, { method: "HEAD" }), await gateway.request(path)];
    expect(head.status).toBe(get.status);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    expect(await head.text()).toBe("");
  });
});

describe("a page of another origin", () => {
  const origin = "https://app.example";

  test.each(["/v1/models", "/v1/files/x", "/v1/nothing", "/admin/keys"])(
    "may read the answers of %s, success or not",
    async (path) => {
      const gateway = await createGateway();
      const { headers } = await gateway.request(path, { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("access-control-expose-headers")).toBe("*");
    },
  );

  test("sends a preflight without a credential, which is not logged", async () => {
    const gateway = await createGateway();
    const headers = { origin, "access-control-request-headers": "x-stainless-os" };
    const response = await gateway.request(PATH, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-headers")).toContain("x-stainless-os");
    expect(gateway.lines).toEqual([]);
  });

  test("cannot read the probes", async () => {
    const gateway = await createGateway();
    const { headers } = await gateway.request("/healthz", { headers: { origin } });
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("the console", () => {
  test("is served at its own paths with a content security policy, and with the errors of the admin API", async () => {
    const gateway = await createGateway({ assets: { "/console/index.html": "<!doctype html>" } });
    const response = await gateway.request("/admin");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await response.text()).toBe("<!doctype html>");
    expect((await gateway.request("/admin", { method: "POST" })).status).toBe(404);
  });
});

describe("an upload without a credential", () => {
  /** A body that a client sends in pieces, and how much of it has been taken. */
  function slowly(pieces: number, pause: number) {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await new Promise((resolve) => setTimeout(resolve, pause));
          if (sent === pieces) return controller.close();
          sent += 1;
          controller.enqueue(new Uint8Array(1_000));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    return { init: { method: "POST", body, headers, duplex: "half" }, sent: () => sent };
  }

  test("is read to its end before it is refused, because a client that is cut off never sees the answer", async () => {
    const gateway = await createGateway();
    const { init, sent } = slowly(20, 1_000);
    const answer = gateway.request("/v1/files", init);
    await pass(21_000);
    expect((await answer).status).toBe(401);
    expect(sent()).toBe(20);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("is read for a limited time only", async () => {
    const gateway = await createGateway();
    const { init } = slowly(200, 1_000);
    const answer = gateway.request("/files", init);
    await pass(60_000);
    expect((await answer).status).toBe(401);
  });

  test("is refused at once if it has no body", async () => {
    const gateway = await createGateway();
    expect((await gateway.request("/v1/files", { method: "POST" })).status).toBe(401);
  });

  test("with a credential is accepted", async () => {
    const gateway = await createGateway();
    const form = new FormData();
    form.set("file", new File(["hello"], "a.txt"));
    const headers = { authorization: `Bearer ${KEY}` };
    expect((await gateway.request("/v1/files", { method: "POST", body: form, headers })).status).toBe(200);
  });
});
