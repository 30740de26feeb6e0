import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { SignJWT } from "jose";
import { afterAll, describe, expect, it } from "vitest";
import { deriveSecret } from "../../src/core/auth/password.ts";
import { serve } from "../support/local-server.ts";
import { ROUTES } from "../support/route-groups.ts";
import { SlowClients } from "../support/slow-clients.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { refused } from "../unit/core/url-safety/forms.ts";

const ADMIN = "the-admin-key-of-this-test";
/** A configuration of the environment keeps no secret for tokens: it is drawn from what opens the door, so that a test knows it. */
const SECRET = await deriveSecret(`\n${ADMIN}`, "administrators' tokens");
const key = (text: string) => new TextEncoder().encode(text);

/** An attacker's web server, which redirects to the address in its query. */
const visited: string[] = [];
const server = await serve((_, response, url) => {
  visited.push(url.pathname);
  response.writeHead(302, { location: url.searchParams.get("to") ?? "" }).end();
});
afterAll(() => server.close());

const running = useAdmin({
  vars: {
    ADMIN_KEY: ADMIN,
    PAGE_PRIVATE_HOSTS: server.host,
    GATEWAY_CONFIG_JSON: JSON.stringify({
      api_keys: [{ key: "sk-dev" }],
      accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
    }),
  },
});
/** The same with a configuration that can be edited. */
const editable = useAdmin({ vars: { ADMIN_KEY: ADMIN } });

/** A request whose path is sent as it is written: `fetch` would tidy it. */
function raw(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; text: string }> {
  const { hostname, port: at } = new URL(running.gateway.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port: at, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject);
    request.end();
  });
}

describe("forged administrators' tokens", () => {
  const now = () => Math.floor(Date.now() / 1000);
  const claims = () => ({ iss: "polygate", sub: "administrator", iat: now(), exp: now() + 3_600 });
  const sign = (payload: Record<string, unknown>, header: Record<string, unknown> = {}, secret = SECRET) =>
    new SignJWT(payload).setProtectedHeader({ alg: "HS256", typ: "JWT", ...header }).sign(key(secret));
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const verify = async (token: string) =>
    (await running.admin("GET", "/admin/verify", undefined, token)).status;

  it("are made like a valid one, which this test can make", async () => {
    expect(await verify(await sign(claims()))).toBe(200);
    expect(await verify(await sign({ ...claims(), role: "x" }))).toBe(200);
  });

  it.each<[string, () => string | Promise<string>]>([
    ...["none", "None", "NONE", "nOnE", "", "HS256 "].map((alg): [string, () => string] => [
      `unsigned (${alg})`,
      () => `${part({ alg, typ: "JWT" })}.${part(claims())}.AAAA`,
    ]),
    ["unsigned, without a signature", () => `${part({ alg: "none" })}.${part(claims())}.`],
    ...["", " ", "admin", "secret", ADMIN, "null", "undefined", `${SECRET}=`, SECRET.slice(1)].map(
      (secret): [string, () => Promise<string>] => [
        `signed with ${JSON.stringify(secret.slice(0, 8))}`,
        () => sign(claims(), {}, secret || "\0"),
      ],
    ),
    ["of another algorithm with the right key", () => sign(claims(), { alg: "HS512" }, SECRET)],
    [
      "with a header for a public key",
      async () => `${part({ alg: "RS256" })}.${(await sign(claims())).split(".").slice(1).join(".")}`,
    ],
    ["with a key of its own", () => sign(claims(), { jwk: { kty: "oct", k: part("mine") } }, "mine")],
    [
      "with a key from elsewhere",
      () => sign(claims(), { jku: "http://127.0.0.1/keys", kid: "../../dev/null" }, "\0"),
    ],
    ["of another type", () => sign(claims(), { typ: "at+jwt" })],
    ["of no type", () => sign(claims(), { typ: undefined })],
    [
      "with an extension that must be understood",
      () => `${part({ alg: "HS256", typ: "JWT", crit: ["exp"] })}.${part(claims())}.AAAA`,
    ],
    ["that has expired", () => sign({ ...claims(), iat: now() - 60, exp: now() - 1 })],
    ["from the future", () => sign({ ...claims(), iat: now() + 3_600, exp: now() + 7_200 })],
    ["that is not valid yet", () => sign({ ...claims(), nbf: now() + 3_600 })],
    ["without an end", () => sign({ iss: "polygate", sub: "administrator", iat: now() })],
    ["without a beginning", () => sign({ iss: "polygate", sub: "administrator", exp: now() + 60 })],
    ["with an end that is no number", () => sign({ ...claims(), exp: "9999999999" })],
    ["of another issuer", () => sign({ ...claims(), iss: "elsewhere" })],
    ["of another subject", () => sign({ ...claims(), sub: "guest" })],
    ["of several subjects", () => sign({ ...claims(), sub: ["administrator"] })],
    [
      "whose claims were changed",
      async () =>
        (await sign(claims())).replace(/\.[^.]+\./, `.${part({ ...claims(), exp: 9_999_999_999 })}.`),
    ],
    ["whose signature was cut", async () => (await sign(claims())).slice(0, -4)],
    ["with a part too many", async () => `${await sign(claims())}.AAAA`],
  ])("are refused: %s", async (_what, forge) => {
    const token = await forge();
    expect(await verify(token)).toBe(401);
    const header = { authorization: `Bearer ${token}` };
    expect((await running.fetch("/admin/settings", { headers: header })).status).toBeOneOf([401, 429]);
  });
});

describe("paths in unusual spellings", () => {
  const SETTINGS = [
    "//admin/settings",
    "/admin//settings",
    "/admin/./settings",
    "/admin/%2e/settings",
    "/v1/%2e%2e/admin/settings",
    "/v1/.%2E/admin/settings",
    "/healthz/../admin/settings",
    "/admin/login/../settings",
    "/admin/login/%2e%2e/settings",
    "/admin/login%2f..%2fsettings",
    "/admin/login/..;/settings",
    "/admin/login;/../settings",
    "/v1/..%2fadmin/settings",
    "/v1/..%5cadmin/settings",
    "/admin%2fsettings",
    "/admin%252fsettings",
    "/ADMIN/settings",
    "/Admin/Settings",
    "/admin/settings/",
    "/admin/settings//",
    "/admin/settings.",
    "/admin/settings%00",
    "/admin/settings%20",
    "/admin/settings%0a",
    "/admin/settings;x=1",
    "/admin/settings.json",
    "/%61dmin/settings",
    "/admin/s%65ttings",
    "/admin/settings?x=/admin/login",
    "/admin\\settings",
    "/admin/config/export/../export",
    "/openapi.json/../admin/export",
  ];

  it("open no admin endpoint with any method", async () => {
    for (const path of SETTINGS) {
      for (const method of ["GET", "POST", "PUT", "DELETE"]) {
        const { status, text } = await raw(path, { "content-length": "0" }, method);
        expect([path, method, status >= 400 && status < 500]).toEqual([path, method, true]);
        expect(text).not.toContain("account_max_inflight");
      }
    }
  });

  it("are not changed by headers that name another path or method", async () => {
    const headers = {
      "x-original-url": "/admin/settings",
      "x-rewrite-url": "/admin/settings",
      "x-forwarded-prefix": "/admin",
      "x-http-method-override": "GET",
      "x-forwarded-for": "127.0.0.1",
      host: "localhost",
    };
    expect((await raw("/healthz", headers)).text).toContain('"ok"');
    expect((await raw("/admin/settings", headers)).status).toBe(401);
  });

  it.each([
    "/admin/../wrangler.toml",
    "/admin/%2e%2e/package.json",
    "/console/../package.json",
    "/console/..%2fpackage.json",
    "/console/%2e%2e%2f%2e%2e%2fpackage.json",
    "/console/..%5c..%5cpackage.json",
    "/console//etc/passwd",
    "/console/%2fetc%2fpasswd",
    "/console/http://127.0.0.1/",
    "/console/index.html%00.js",
  ])("lead to no file outside of the console: %s", async (path) => {
    const { status, text } = await raw(path);
    expect(status).toBeGreaterThanOrEqual(300);
    expect(text).not.toMatch(/"name": *"polygate"|root:|compatibility_date/);
  });

  it("are only names: they open no folder, and nothing of another caller", async () => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    for (const name of ["..%2f..%2fconfig", "..%00", "__proto__", "constructor"]) {
      for (const path of [
        "/admin/dev/raw-samples",
        "/admin/dev/captures",
        "/admin/chat-history",
        "/admin/keys",
      ]) {
        const method = path === "/admin/keys" ? "DELETE" : "GET";
        const { status } = await raw(`${path}/${name}`, headers, method);
        // A key cannot be deleted here whatever it is called: the configuration is the environment's.
        expect([path, name, [400, 404, 405, 409].includes(status)]).toEqual([path, name, true]);
      }
      for (const path of ["/v1/files", "/v1/responses", "/v1/models"]) {
        const { status } = await raw(`${path}/${name}`, { authorization: "Bearer sk-dev" });
        expect([path, name, [400, 404, 501].includes(status)]).toEqual([path, name, true]);
      }
    }
  });
});

describe("members such as __proto__", () => {
  const POLLUTION =
    '{"polluted":"yes","keys":["sk-polluted-0123"],"admin_key":"x","account_max_inflight":999}';
  const poisoned = (json: string) =>
    json.replace(/^\{/, `{"__proto__":${POLLUTION},"constructor":{"prototype":${POLLUTION}},`);
  const send = (path: string, body: string, credential: string, method = "POST") =>
    editable.fetch(path, {
      method,
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
      body,
    });
  const unharmed = async () => {
    const settings = await editable.admin("GET", "/admin/settings", undefined, ADMIN);
    expect(settings.status).toBe(200);
    expect(JSON.stringify(settings.body)).not.toMatch(/polluted|999/);
    expect((await editable.fetch("/admin/settings")).status).toBe(401);
    expect((await send("/v1/embeddings", "{}", "sk-polluted-0123")).status).not.toBe(200);
    expect(await (await editable.fetch("/healthz")).json()).toEqual({ status: "ok" });
  };

  it("are harmless in the body of every endpoint", async () => {
    const routes = ROUTES.filter(
      ({ endpoint, path }) => endpoint.body !== undefined && path !== "/admin/settings/password",
    );
    expect(routes.length).toBeGreaterThan(20);
    for (const { endpoint, path } of routes) {
      const target =
        path.replaceAll(/:\w+\+?/g, "provider-v4-flash") +
        (endpoint.verb === undefined ? "" : `:${endpoint.verb}`);
      const model = '"model":"provider-v4-flash","messages":[{"role":"user","content":"hi"}]';
      const response = await send(
        target,
        poisoned(`{${model}}`),
        path.startsWith("/admin") ? ADMIN : "sk-dev",
        endpoint.method,
      );
      expect([path, response.status < 500 || response.status === 501]).toEqual([path, true]);
      expect(await response.text()).not.toContain("polluted");
    }
    await unharmed();
  });

  it("are harmless in a configuration, a setting or an alias", async () => {
    const config = poisoned(
      `{"keys":["sk-kept-0123456789"],"runtime":${poisoned('{"account_max_queue":7}')},"config":{}}`,
    );
    for (const path of ["/admin/config/import", "/admin/config/import?mode=merge", "/admin/config"]) {
      await (await send(path, config, ADMIN)).text();
      await (await send(path, `{"config":${config}}`, ADMIN)).text();
    }
    await (
      await send(
        "/admin/settings",
        poisoned(`{"runtime":${poisoned('{"account_max_queue":7}')}}`),
        ADMIN,
        "PUT",
      )
    ).text();
    const aliases =
      '{"model_aliases":{"__proto__":"provider-v4-pro","constructor":"provider-v4-pro","mine":"provider-v4-pro"}}';
    await (await send("/admin/config", aliases, ADMIN)).text();
    await unharmed();
    const exported = await editable.admin("GET", "/admin/config/export", undefined, ADMIN);
    expect(JSON.stringify(exported.body)).not.toContain("polluted");
  });

  it.each([
    "__proto__",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "constructor-nothinking",
    "__proto__-nothinking",
  ])("are not models: %s", async (model) => {
    for (const [path, body] of [
      ["/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }] }],
      ["/v1/responses", { model, input: "hi" }],
      [`/v1beta/models/${model}:generateContent`, { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
    ] as const) {
      const response = await running.post(path, body);
      expect(response.status).toBeOneOf([400, 404]);
      expect(await response.text()).toContain("does not exist");
    }
  });

  it("reach the caller unchanged as names of tools and as arguments", async () => {
    const call = '{"__proto__":{"a":1},"constructor":{"b":2},"toString":3}';
    const tools = ["__proto__", "constructor", "toString"].map((name) => ({
      type: "function",
      function: { name, parameters: { type: "object", properties: JSON.parse(call) } },
    }));
    for (const { function: tool } of tools) {
      const response = await running.chat(`[[call:${tool.name}:${call}]]`, { tools });
      const text = await response.text();
      expect([tool.name, response.status]).toEqual([tool.name, 200]);
      expect(text).toContain(`"name":"${tool.name}"`);
      expect(text).toContain(JSON.stringify('"__proto__"').slice(1, -1));
    }
  });
});

describe("addresses that a caller names", () => {
  // A text without a scheme is the picture itself, in base64.
  const FORMS = Object.values(refused)
    .flat()
    .filter((form) => /[/:\\]/.test(form));

  it("are not fetched if they are private, in any spelling, also after a redirect", async () => {
    expect(FORMS.length).toBeGreaterThan(150);
    const inside = [
      "http://127.1:9/",
      "http://0x7f000001:9/",
      "http://[::ffff:7f00:1]:9/",
      "http://2852039166/",
      "file:///etc/passwd",
      "//169.254.169.254/",
    ];
    const redirected = inside.map((to) => `http://${server.host}/redirect?to=${encodeURIComponent(to)}`);
    const see = async (url: string) => {
      const content = [{ type: "image_url", image_url: { url } }];
      const response = await running.chat("", {
        model: "provider-v4-vision",
        messages: [{ role: "user", content }],
      });
      await response.body?.cancel();
      return [url, response.status] as const;
    };
    const asked = [...FORMS, ...redirected];
    const answers: (readonly [url: string, status: number])[] = [];
    for (let at = 0; at < asked.length; at += 16)
      answers.push(...(await Promise.all(asked.slice(at, at + 16).map(see))));
    expect(answers.filter(([, status]) => status !== 400)).toEqual([]);
    expect(answers).toHaveLength(asked.length);
    // The redirects were followed to the place where they were refused.
    expect(visited.filter((path) => path === "/redirect")).toHaveLength(inside.length);
    expect(
      (await running.gateway.sandbox.state()).turns.filter(({ file_ids }) => file_ids.length > 0),
    ).toEqual([]);
  });
});

/** What comes back on a connection of its own for exactly this text: the status line, and what follows the head. */
async function exactly(text: string): Promise<{ status: number; body: string }> {
  const { hostname, port: at } = new URL(running.gateway.url);
  const socket = connect(Number(at), hostname);
  socket.on("error", () => undefined);
  let said = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    said += piece;
  });
  let closed = false;
  socket.once("close", () => {
    closed = true;
  });
  socket.write(text);
  // All but an upgrade has a body, or ends the connection.
  const answered = async () => closed || /^HTTP\/1.1 101|\r\n\r\n./s.test(said);
  await until(answered, (is) => is);
  socket.destroy();
  return { status: Number(said.split(" ")[1] ?? 0), body: said.slice(said.indexOf("\r\n\r\n") + 4) };
}

const CHAT_HEAD =
  "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-dev\r\nContent-Type: application/json\r\n";
const HANDSHAKE =
  "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-dev\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";

describe("malformed HTTP requests", () => {
  it.each(["gateway/admin/?", "gateway/v1/models#", "gateway?", "user@gateway"])(
    "are refused with the host %s",
    async (host) => {
      const { status, body } = await exactly(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      // One that no address can hold is the runtime's own to refuse.
      expect(host.includes("@") ? [400, 500] : [400]).toContain(status);
      expect(body).not.toMatch(/<html|"object"/i);
    },
  );

  it("are a client error if their chunks are broken, and reach no provider", async () => {
    const { status, body } = await exactly(
      `${CHAT_HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"mod\r\nzz\r\n`,
    );
    // A runtime may end the connection without a word.
    expect([
      [0, ""],
      [400, expect.stringContaining("broke off")],
    ]).toContainEqual([status, body]);
  });

  it.each([
    [
      "of another version",
      "Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
      426,
    ],
    ["without a key", "Sec-WebSocket-Version: 13\r\n", 400],
  ])("open no WebSocket with a handshake %s", async (_which, headers, expected) => {
    const { status } = await exactly(`${HANDSHAKE}${headers}\r\n`);
    expect(status).toBe(expected);
  });
});

describe("slow clients", () => {
  // `npm run slow` is the long form, with thousands.
  it("do not delay others, even hundreds at once", async () => {
    const slowClients = new SlowClients(running.gateway.url);
    const chat = async () => {
      const response = await running.post("/v1/chat/completions", {
        model: "provider-v4-flash-nothinking",
        messages: [{ role: "user", content: "[[say:hi]]" }],
      });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("hi")]);
    };
    try {
      await slowClients.add({ idle: 200, neverReading: 15, trickling: 40 }, 400_000);
      for (let count = 0; count < 10; count += 1) await chat();
      expect((await running.gateway.fetch("/healthz")).status).toBe(200);
      // The gateway served the other clients while all slow ones were connected and had no answer.
      expect(slowClients.ended).toBe(0);
    } finally {
      await slowClients.end();
    }
  });
});

describe("line breaks in values for headers", () => {
  const EVIL = "x\r\nX-Injected: yes";

  it("in a key in the query are a 401, and reach no provider", async () => {
    const { turn_count: before } = await running.gateway.sandbox.state();
    for (const credential of [`key-${EVIL}`, "ключ-провайдера", "a\u0000b", "a\u2028b"]) {
      const response = await running.fetch(`/v1/chat/completions?key=${encodeURIComponent(credential)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "provider-v4-flash", messages: [{ role: "user", content: "hi" }] }),
      });
      expect([credential, response.status]).toEqual([credential, 401]);
      expect(response.headers.has("x-injected")).toBe(false);
      await response.body?.cancel();
    }
    expect((await running.gateway.sandbox.state()).turn_count).toBe(before);
  });

  it("appear in no header from models, samples, and names of files and accounts", async () => {
    const headers: string[] = [];
    const note = async (response: Response) => {
      headers.push(JSON.stringify([...response.headers]));
      await response.text();
      return response.status;
    };
    expect(await note(await running.chat("hi", { model: EVIL }))).toBe(400);
    const capture = { message: "hi", sample_id: EVIL };
    const admin = { authorization: `Bearer ${ADMIN}` };
    expect(await note(await running.post("/admin/dev/raw-samples/capture", capture, admin))).toBe(400);
    expect(
      await note(
        await running.post(`/v1beta/models/${encodeURIComponent(EVIL)}:generateContent`, { contents: [] }),
      ),
    ).toBeOneOf([400, 404]);
    for (const field of ["email", "mobile", "token"]) {
      const account = { email: "evil@sandbox.test", password: "sandbox", [field]: EVIL };
      expect(await note(await editable.post("/admin/accounts", account, admin))).toBe(400);
    }
    const form = new FormData();
    form.append("purpose", "assistants");
    form.append("file", new Blob(["text"], { type: "text/plain" }), `a.txt"\r\nX-Injected: yes\r\n\r\n`);
    const authorization = "Bearer sk-dev";
    const status = await note(
      await running.fetch("/v1/files", { method: "POST", headers: { authorization }, body: form }),
    );
    expect(status).toBeOneOf([200, 400]);
    expect(
      await note(await running.fetch("/healthz", { headers: { "x-request-id": "a b\tX-Injected" } })),
    ).toBe(200);
    expect(headers.join("\n")).not.toMatch(/injected/i);
  });
});
