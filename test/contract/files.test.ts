import { connect } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

const OTHER_KEY = "sk-other";
const MIB = 1024 * 1024;
const accounts = ["one", "two", "three"].map((name) => ({
  email: `${name}@sandbox.test`,
  password: "sandbox",
}));
const test = useAdmin({
  vars: { GATEWAY_CONFIG_JSON: JSON.stringify({ keys: [DEV_KEY, OTHER_KEY], accounts }) },
});
const { fetch } = test;

interface FileObject {
  id: string;
  object: string;
  bytes: number;
  created_at: number;
  expires_at: number;
  filename: string;
  purpose: string;
  status: string;
  account_id: string;
}

const bearer = (key = DEV_KEY) => ({ authorization: `Bearer ${key}` });

function form(
  name = "notes.txt",
  content: string | Uint8Array<ArrayBuffer> = "hello",
  fields: Record<string, string> = {},
): FormData {
  const data = new FormData();
  data.append("file", new File([content], name, { type: "text/plain" }));
  for (const [key, value] of Object.entries(fields)) data.append(key, value);
  return data;
}

const upload = (body: FormData, headers: Record<string, string> = bearer()) =>
  fetch("/v1/files", { method: "POST", headers, body });

async function uploaded(body: FormData, headers = bearer()): Promise<FileObject> {
  const response = await upload(body, headers);
  expect(response.status).toBe(200);
  return response.json();
}

const status = (id: string, key = DEV_KEY, path = "/v1/files") =>
  fetch(`${path}/${id}`, { headers: bearer(key) });

/** A multipart body as the wire has it. */
function wire(
  parts: readonly string[],
  boundary = "XBOUNDARYX",
): { headers: Record<string, string>; body: string } {
  const body = `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("")}--${boundary}--\r\n`;
  return { headers: { ...bearer(), "content-type": `multipart/form-data; boundary=${boundary}` }, body };
}
const FILE_PART =
  'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello';
const PURPOSE_PART = 'Content-Disposition: form-data; name="purpose"\r\n\r\nvision';

const inUse = async () => (await test.admin("GET", "/admin/queue/status")).body["in_use"];

afterEach(async () => {
  await expect.poll(inUse).toBe(0);
});

describe("POST /v1/files", () => {
  it.each(["/v1/files", "/files"])("answers with the file object and its account at %s", async (path) => {
    const response = await fetch(path, {
      method: "POST",
      headers: bearer(),
      body: form("notes.txt", "hello", { purpose: "user_data" }),
    });
    expect(response.status).toBe(200);
    const file: FileObject = await response.json();
    expect(file).toMatchObject({
      object: "file",
      bytes: 5,
      filename: "notes.txt",
      purpose: "user_data",
      status: "processed",
    });
    expect(file.id).not.toBe("");
    expect(accounts.map(({ email }) => email)).toContain(file.account_id);
    expect(Math.abs(file.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(file.expires_at - file.created_at).toBeGreaterThan(29 * 86_400);
  });

  it.each([
    ["file first", [FILE_PART, PURPOSE_PART]],
    ["purpose first", [PURPOSE_PART, FILE_PART]],
  ])("passes the purpose on, %s", async (_name, parts) => {
    const response = await fetch("/v1/files", { method: "POST", ...wire(parts) });
    expect(await response.json()).toMatchObject({ bytes: 5, filename: "a.txt", purpose: "vision" });
  });

  it("keeps any name and any bytes of a file", async () => {
    const bytes = new Uint8Array(3 * MIB).map((_, n) => (n * 31) % 256);
    const file = await uploaded(form("日本語 \u{1f600}.bin", bytes));
    expect(file).toMatchObject({ filename: "日本語 \u{1f600}.bin", bytes: bytes.length });
  });

  it("accepts an empty file", async () => {
    expect(await uploaded(form("empty.txt", ""))).toMatchObject({ bytes: 0, filename: "empty.txt" });
  });

  it("applies expires_after, and answers 400 for an impossible one", async () => {
    const fields = { "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" };
    const file = await uploaded(form("a.txt", "a", fields));
    expect(file.expires_at - file.created_at).toBeLessThan(3700);
    const refused = await upload(form("a.txt", "a", { "expires_after[seconds]": "5" }));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: "expires_after[seconds]" } });
  });

  it.each<[string, RequestInit]>([
    ["JSON", { headers: { "content-type": "application/json" }, body: "{}" }],
    ["raw bytes", { headers: { "content-type": "application/octet-stream" }, body: "abc" }],
    ["a URL-encoded form", { body: new URLSearchParams({ file: "x" }) }],
    ["no body", {}],
    ["multipart without a boundary", { headers: { "content-type": "multipart/form-data" }, body: "x" }],
    ["a form without a file", wire([PURPOSE_PART])],
    [
      "a form that is cut off",
      {
        ...wire([]),
        body: '--XBOUNDARYX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhel',
      },
    ],
    ["something else under a multipart type", { ...wire([]), body: "nothing of the kind" }],
  ])("refuses %s with a 400", async (_name, init) => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...bearer() };
    const response = await fetch("/v1/files", { method: "POST", ...init, headers });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "invalid_request" },
    });
  });

  it("answers 401 without a credential", async () => {
    const response = await upload(form(), {});
    expect(response.status).toBe(401);
    await response.body?.cancel();
  });

  it("answers 413 above 100 MiB of declared length, and the client receives it", async () => {
    const response = await upload(form("big.bin", new Uint8Array(100 * MIB)));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: "request_too_large" } });
  }, 60_000);

  it("answers 413 above 100 MiB of counted length", async () => {
    const chunk = new Uint8Array(MIB);
    let sent = 0;
    const head = new TextEncoder().encode(`--XBOUNDARYX\r\n${FILE_PART}`);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(head),
      pull(controller) {
        sent += 1;
        if (sent > 101) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", ...wire([]), body, duplex: "half" };
    const response = await fetch("/v1/files", init);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: "request_too_large" } });
  }, 60_000);

  it("accepts a file just under 100 MiB", async () => {
    const bytes = 100 * MIB - 1024;
    expect(await uploaded(form("big.bin", new Uint8Array(bytes)))).toMatchObject({ bytes });
  }, 60_000);

  it("renews an expired token before it sends the file", async () => {
    await test.gateway.sandbox.expireTokens();
    expect(await uploaded(form())).toMatchObject({ bytes: 5 });
  });

  it("releases the slot of a client that leaves in mid-upload", async () => {
    const { hostname, port } = new URL(test.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    const { headers } = wire([]);
    socket.write(
      `POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\nAuthorization: ${headers["authorization"]}\r\n` +
        `Content-Type: ${headers["content-type"]}\r\n\r\n--XBOUNDARYX\r\n${FILE_PART}`,
    );
    await expect.poll(inUse).toBe(1);
    socket.destroy();
    await expect.poll(inUse).toBe(0);
  }, 20_000);
});

describe("GET /v1/files/{file_id}", () => {
  it("asks the account that has the file, for its current status", async () => {
    for (let n = 0; n < 3; n += 1) {
      const file = await uploaded(form("pending.txt"));
      expect(file.status).toBe("pending");
      await (await status(file.id)).body?.cancel();
      const response = await status(file.id, DEV_KEY, n === 0 ? "/files" : "/v1/files");
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ ...file, status: "processed" });
    }
  });

  it("answers another caller with 404, as for an unknown file", async () => {
    const { id } = await uploaded(form());
    for (const response of [await status(id, OTHER_KEY), await status("file-none")]) {
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "file_not_found" } });
    }
  });

  it("asks the own account of a pass-through caller", async () => {
    const token = "sandbox-token-filer";
    const file = await uploaded(form(), bearer(token));
    expect(file.account_id).toBe("token-filer");
    expect(await (await status(file.id, token)).json()).toEqual(file);
    for (const key of [DEV_KEY, "sandbox-token-other"]) {
      const response = await status(file.id, key);
      expect(response.status).toBe(404);
      await response.body?.cancel();
    }
  });

  it("answers 401 for a token that the provider refuses", async () => {
    const response = await upload(form(), bearer("no-such-token"));
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("no-such-token");
  });

  it("lets the openai SDK upload, wait and read", async () => {
    const client = new OpenAI({ apiKey: DEV_KEY, baseURL: `${test.gateway.url}/v1` });
    const made = await client.files.create({
      file: await toFile(Buffer.from("hi"), "pending.md"),
      purpose: "assistants",
    });
    const file = await client.files.waitForProcessing(made.id, { pollInterval: 10 });
    expect(file).toMatchObject({ status: "processed", bytes: 2, purpose: "assistants" });
    const failed = await client.files.create({
      file: await toFile(Buffer.from("hi"), "failed.md"),
      purpose: "assistants",
    });
    expect((await client.files.waitForProcessing(failed.id, { pollInterval: 10 })).status).toBe("error");
  });
});

describe("lists, contents and deletions of files", () => {
  const KEY = "sandbox-token-lister";
  const openai = (key = KEY) => new OpenAI({ apiKey: key, baseURL: `${test.gateway.url}/v1`, maxRetries: 0 });
  const create = async (name: string, purpose: "assistants" | "user_data", key = KEY) =>
    openai(key).files.create({ file: await toFile(Buffer.from(name), name), purpose });

  it("show the openai SDK its own files page by page, by purpose and in either order", async () => {
    await create("foreign.txt", "user_data", "sandbox-token-stranger");
    const made = [
      await create("a.txt", "user_data"),
      await create("b.txt", "assistants"),
      await create("c.txt", "user_data"),
    ];
    const ids = made.map(({ id }) => id);
    const listed: string[] = [];
    for await (const file of openai().files.list({ limit: 2 })) listed.push(file.id);
    expect(listed).toEqual(ids.toReversed());
    const page = await openai().files.list({ order: "asc", purpose: "user_data" });
    expect(page.data.map(({ filename }) => filename)).toEqual(["a.txt", "c.txt"]);
    expect(page.data[0]).toEqual(made[0]);
    expect((await openai("sandbox-token-nobody").files.list()).data).toEqual([]);
  });

  it.each([DEV_KEY, "sandbox-token-deleter"])("treat a deleted file as unknown (%s)", async (key) => {
    const { id } = await create("gone.txt", "user_data", key);
    expect(await openai(key).files.delete(id)).toEqual({ id, object: "file", deleted: true });
    for (const again of ["retrieve", "delete"] as const) {
      await expect(openai(key).files[again](id)).rejects.toMatchObject({
        status: 404,
        code: "file_not_found",
      });
    }
    const left: string[] = [];
    for await (const file of openai(key).files.list()) left.push(file.id);
    expect(left).not.toContain(id);
  });

  it("refuse files of other callers", async () => {
    const { id } = await create("mine.txt", "user_data", OTHER_KEY);
    for (const refused of ["delete", "content"] as const) {
      await expect(openai(DEV_KEY).files[refused](id)).rejects.toMatchObject({ status: 404 });
    }
    expect(await openai(OTHER_KEY).files.retrieve(id)).toMatchObject({ id });
  });

  it("state that the content is not stored", async () => {
    const { id } = await create("text.txt", "user_data");
    await expect(openai().files.content(id)).rejects.toMatchObject({ status: 400, code: "unsupported" });
  });

  it.each(["limit=0", "limit=x", "order=up", "after=file-none"])("refuse ?%s", async (query) => {
    const response = await fetch(`/v1/files?${query}`, { headers: bearer() });
    expect([400, 404]).toContain(response.status);
    await response.body?.cancel();
  });
});

// General rule 6: the root shortcut and its counterpart under /v1 are the same, whichever of the contract's names a request has.
describe.each<[string, string, Record<string, string>]>([
  ["x-vendorc-api-key", "", { "x-vendorc-api-key": DEV_KEY }],
  ["?key=", `?key=${DEV_KEY}`, {}],
  ["?api_key=", `?api_key=${DEV_KEY}`, {}],
  ["vendorb-version", "", { "vendorb-version": "2023-06-01", "x-api-key": DEV_KEY }],
  ["vendorb-beta", "", { "vendorb-beta": "files-api-2025-04-14", ...bearer() }],
])("files with %s", (_, query, headers) => {
  it.each(["/v1/files", "/files"])("answers with the file object: %s", async (path) => {
    const sent = await fetch(path + query, { method: "POST", headers, body: form() });
    const file: FileObject = await sent.json();
    expect(file).toMatchObject({ object: "file", account_id: expect.any(String), filename: "notes.txt" });
    expect(await (await fetch(`${path}/${file.id}${query}`, { headers })).json()).toEqual(file);
    const list = await (await fetch(path + query, { headers })).json();
    expect(list).toMatchObject({ object: "list", data: expect.arrayContaining([file]) });
    const deleted = await fetch(`${path}/${file.id}${query}`, { method: "DELETE", headers });
    expect(await deleted.json()).toEqual({ id: file.id, object: "file", deleted: true });
  });

  it.each(["/v1/files", "/files"])("answers errors in the standard format: %s", async (path) => {
    const missing = await fetch(`${path}/file-none${query}`, { headers });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toEqual({
      error: {
        message: expect.any(String),
        type: "invalid_request_error",
        code: "file_not_found",
        param: "file_id",
      },
    });
  });
});

describe("files in the message style", () => {
  const client = (apiKey: string, prefix = "") =>
    new Anthropic({ apiKey, authToken: null, baseURL: test.gateway.url + prefix, maxRetries: 0 });

  it.each(["", "/vendorb", "/anthropic"])("work with the SDK and the base %s/", async (prefix) => {
    const key = `sandbox-token-messages${prefix.replace("/", "-")}`;
    const { files } = client(key, prefix);
    const made = await files.upload({
      file: await toFile(Buffer.from("hello"), "a.txt", { type: "text/plain" }),
      expires_in_seconds: 7200,
    });
    expect(made).toMatchObject({
      type: "file",
      filename: "a.txt",
      mime_type: "text/plain",
      size_bytes: 5,
      downloadable: false,
    });
    expect(Date.parse(made.expires_at ?? "") - Date.parse(made.created_at)).toBeLessThan(7_300_000);
    expect(await files.retrieveMetadata(made.id)).toEqual(made);
    const other = await files.upload({ file: await toFile(Buffer.from("two"), "b.txt") });
    const listed: string[] = [];
    for await (const { id } of files.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual([other.id, made.id]);
    await expect(files.download(made.id)).rejects.toMatchObject({
      status: 400,
      errorCode: "file_not_downloadable",
    });
    expect(await files.delete(made.id)).toEqual({ id: made.id, type: "file_deleted" });
    await expect(files.retrieveMetadata(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it("are the same files as in the standard style, and can be part of a message", async () => {
    const { files } = client(DEV_KEY);
    const { id } = await files.upload({
      file: await toFile(Buffer.from("hello"), "a.txt", { type: "text/plain" }),
    });
    expect(await (await status(id)).json()).toMatchObject({ id, object: "file", filename: "a.txt" });
    const response = await test.post("/v1/messages", {
      model: "claude-sonnet-5",
      max_tokens: 100,
      messages: [
        {
          role: "user",
          content: [
            { type: "document", source: { type: "file", file_id: id } },
            { type: "text", text: "[[echo]]" },
          ],
        },
      ],
    });
    expect(response.status).toBe(200);
    await response.text();
    expect((await test.gateway.sandbox.lastTurn()).file_ids).toEqual([id]);
  });

  it("have errors in the style's format", async () => {
    const headers = { "x-api-key": DEV_KEY, "anthropic-beta": "files-api-2025-04-14" };
    const missing = await fetch("/v1/files/file-none", { headers });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });
});

describe("a turn with uploaded files", () => {
  const asking = (...ids: string[]) => [
    {
      role: "user",
      content: [
        { type: "text", text: "[[echo]]" },
        ...ids.map((id) => ({ type: "file", file: { file_id: id } })),
      ],
    },
  ];
  const chat = (messages: unknown, headers: Record<string, string> = {}) =>
    test.post("/v1/chat/completions", { model: "provider-v4-flash", messages }, headers);
  const on = (name: string, key = DEV_KEY) => ({
    ...bearer(key),
    "x-gateway-target-account": `${name}@sandbox.test`,
  });

  it("goes to the account that has them", async () => {
    const file = await uploaded(form(), on("two"));
    expect(file.account_id).toBe("two@sandbox.test");
    for (let n = 0; n < 3; n += 1) {
      const response = await chat(asking(file.id));
      expect(response.status).toBe(200);
      await response.text();
      const turn = await test.gateway.sandbox.lastTurn();
      expect([turn.account, turn.file_ids]).toEqual(["two@sandbox.test", [file.id]]);
    }
  });

  it("waits until they are processed", async () => {
    const file = await uploaded(form("pending.txt"));
    const response = await chat(asking(file.id));
    expect(response.status).toBe(200);
    await response.text();
    expect((await test.gateway.sandbox.lastTurn()).file_ids).toEqual([file.id]);
  });

  it("of two accounts is a 400 that states this", async () => {
    const one = await uploaded(form(), on("one"));
    const two = await uploaded(form(), on("two"));
    const response = await chat(asking(one.id, two.id));
    expect(response.status).toBe(400);
    const { error }: { error: { message: string } } = await response.json();
    expect(error).toMatchObject({ code: "invalid_request", param: "messages" });
    expect(error.message).toContain("different accounts");
  });

  it("pinned to another account is a 400", async () => {
    const one = await uploaded(form(), on("one"));
    const response = await chat(asking(one.id), on("two"));
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });

  it("of another caller is a 404, and the provider is not asked", async () => {
    const file = await uploaded(form(), on("one", OTHER_KEY));
    const before = (await test.gateway.sandbox.state()).turn_count;
    const response = await chat(asking(file.id), on("one"));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "file_not_found", param: "messages" } });
    expect((await test.gateway.sandbox.state()).turn_count).toBe(before);
  });

  it("with a picture by its id is answered by the model with vision, for any requested model", async () => {
    const data = new FormData();
    data.append("file", new File([new Uint8Array([1, 2, 3])], "a.png", { type: "image/png" }));
    const { id } = await uploaded(data);
    const messages = asking(id);
    for (const model of ["provider-v4-vision", "provider-v4-flash"]) {
      const seen = await test.post("/v1/chat/completions", { model, messages });
      expect(await seen.json()).toMatchObject({ model: "provider-v4-vision" });
      expect((await test.gateway.sandbox.lastTurn()).model).toBe("vision");
    }
  });
});
