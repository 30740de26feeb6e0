import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import type { UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { refuses } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const MIB = 1024 * 1024;
const isUpload = ({ method, path }: UpstreamRequest): boolean => method === "POST" && path === "/api/files";
const uploads = ({ upstream }: MemoryGateway): UpstreamRequest[] => upstream.asked.filter(isUpload);

interface Begun {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly path?: string;
}

/** Asks for the address of a new upload. */
function start(
  gateway: MemoryGateway,
  { key = KEY, body, headers = {}, path }: Begun = {},
): Promise<Response> {
  return gateway.request(path ?? "/upload/v1beta/files", {
    method: "POST",
    headers: {
      "x-goog-api-key": key,
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-type": "text/plain",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function begun(gateway: MemoryGateway, options: Begun = {}): Promise<string> {
  const response = await start(gateway, options);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-goog-upload-status")).toBe("active");
  const address = new URL(response.headers.get("x-goog-upload-url") ?? "");
  expect(address.href).toMatch(/^http:\/\/gateway\.test\/upload\/v1beta\/files\?/);
  return `${address.pathname}${address.search}`;
}

/** Sends to an upload's address what clients send there: no key. */
function send(
  gateway: MemoryGateway,
  address: string,
  command: string,
  offset?: number,
  body?: BodyInit,
): Promise<Response> {
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: {
      "x-goog-upload-command": command,
      ...(offset === undefined ? {} : { "x-goog-upload-offset": String(offset) }),
    },
    duplex: "half",
    ...(body === undefined ? {} : { body }),
  };
  return gateway.request(address, init);
}

const statusOf = ({ headers }: Response) => [
  headers.get("x-goog-upload-status"),
  headers.get("x-goog-upload-size-received"),
];

async function fileIn(response: Response): Promise<JsonObject> {
  expect([response.status, statusOf(response)[0]]).toEqual([200, "final"]);
  const { file }: { file: unknown } = await response.json();
  return isObject(file) ? file : {};
}

describe("a resumable upload", () => {
  test("in one piece is passed on, and has its name", async () => {
    const gateway = await createGateway();
    const address = await begun(gateway, {
      body: { file: { display_name: "My notes" } },
      headers: { "x-goog-upload-file-name": "notes.txt", "x-goog-upload-header-content-length": "5" },
    });
    const file = await fileIn(await send(gateway, address, "upload, finalize", 0, "hello"));
    expect(file).toMatchObject({
      name: "files/file-1",
      displayName: "My notes",
      mimeType: "text/plain",
      state: "ACTIVE",
      uri: "http://gateway.test/v1beta/files/file-1",
    });
    expect(uploads(gateway)).toMatchObject([
      { body: expect.stringMatching(/filename="notes\.txt".*hello/s) },
    ]);
    const read = await gateway.request("/v1beta/files/file-1", { headers: { "x-goog-api-key": KEY } });
    expect(await read.json()).toMatchObject({ name: "files/file-1", displayName: "My notes" });
    expect((await send(gateway, address, "query")).status).toBe(404);
  });

  test("in pieces stores them until the last one, and sends each byte once", async () => {
    const gateway = await createGateway();
    const address = await begun(gateway);
    expect(statusOf(await send(gateway, address, "upload", 0, "a".repeat(MIB + 10)))).toEqual([
      "active",
      String(MIB + 10),
    ]);
    // What comes a second time, as a client that heard no answer sends it.
    expect(statusOf(await send(gateway, address, "upload", MIB, `${"a".repeat(10)}bcd`))).toEqual([
      "active",
      String(MIB + 13),
    ]);
    expect(statusOf(await send(gateway, address, "query"))).toEqual(["active", String(MIB + 13)]);
    expect(uploads(gateway)).toEqual([]);
    await fileIn(await send(gateway, address, "upload, finalize", MIB + 13, "efg"));
    const [{ body } = { body: "" }] = uploads(gateway);
    expect(body).toContain(`\r\n\r\n${"a".repeat(MIB + 10)}bcdefg\r\n--`);
  });

  test("may have more pieces than a caller's stored objects", async () => {
    const gateway = await createGateway({ env: { KEPT_OBJECTS: "5" } });
    const address = await begun(gateway);
    for (let at = 0; at < 20; at += 1) await send(gateway, address, "upload", 2 * at, "ab");
    await fileIn(await send(gateway, address, "finalize"));
    expect(uploads(gateway)).toMatchObject([
      { body: expect.stringContaining(`\r\n\r\n${"ab".repeat(20)}\r\n--`) },
    ]);
  });

  test("also ends with a finalize without content", async () => {
    const gateway = await createGateway();
    const address = await begun(gateway);
    await send(gateway, address, "upload", 0, "hello");
    await fileIn(await send(gateway, address, "finalize"));
    expect(uploads(gateway)).toMatchObject([{ body: expect.stringContaining("\r\n\r\nhello\r\n--") }]);
  });

  test("is refused if two requests send pieces at the same time", async () => {
    const gateway = await createGateway();
    const address = await begun(gateway);
    const sent = [
      new TransformStream<Uint8Array, Uint8Array>(),
      new TransformStream<Uint8Array, Uint8Array>(),
    ];
    const answers = sent.map(({ readable }) => send(gateway, address, "upload", 0, readable));
    const [stalled, again] = sent.map(({ writable }) => writable.getWriter());
    await again?.write(new Uint8Array(MIB + 5));
    await pass(100);
    await stalled?.write(new Uint8Array(10));
    await stalled?.close();
    expect((await answers[0])?.status).toBe(200);
    await again?.close();
    expect((await answers[1])?.status).toBe(200);
    expect((await send(gateway, address, "finalize")).status).toBe(400);
    const list = await gateway.request("/v1beta/files", { headers: { "x-goog-api-key": KEY } });
    expect(await list.json()).toEqual({});
  });

  test("can be finished later if the provider refused it", async () => {
    let refused = 0;
    const gateway = await createGateway({
      other: (asked) => {
        if (!isUpload(asked) || refused > 0) return undefined;
        refused += 1;
        return refuses(503, "overloaded");
      },
    });
    const address = await begun(gateway);
    await send(gateway, address, "upload", 0, "hel");
    expect((await send(gateway, address, "upload, finalize", 3, "lo")).status).toBe(503);
    await fileIn(await send(gateway, address, "upload, finalize", 3, "lo"));
  });

  test.each<[string, string, number | undefined, number]>([
    ["a gap", "upload", 9, 400],
    ["no offset", "upload", undefined, 400],
    ["an unknown command", "append", 0, 400],
    ["no command", "", 0, 400],
  ])("with %s is refused", async (_name, command, offset, status) => {
    const gateway = await createGateway();
    const response = await send(gateway, await begun(gateway), command, offset, "hello");
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { status: "INVALID_ARGUMENT" } });
  });

  test("is refused if its length differs from the announced one", async () => {
    const gateway = await createGateway();
    const address = await begun(gateway, { headers: { "x-goog-upload-header-content-length": "9" } });
    expect((await send(gateway, address, "upload, finalize", 0, "hello")).status).toBe(400);
    const list = await gateway.request("/v1beta/files", { headers: { "x-goog-api-key": KEY } });
    expect(await list.json()).toEqual({});
  });

  test("can be cancelled, expires after an hour, and is found only by its address", async () => {
    const gateway = await createGateway({ config: { keys: [KEY, "sk-other"] } });
    const [given, late] = [await begun(gateway), await begun(gateway)];
    expect(statusOf(await send(gateway, given, "cancel"))[0]).toBe("cancelled");
    expect((await send(gateway, given, "query")).status).toBe(404);
    expect((await send(gateway, late, "query")).status).toBe(200);
    const wrong = late.replace(/(upload_id=.{60})./, (_, front: string) => `${front}!`);
    for (const address of [
      wrong,
      late.replace(/upload_id=\w/, "upload_id="),
      "/upload/v1beta/files?upload_id=",
    ]) {
      expect((await send(gateway, address, "query")).status).toBe(404);
    }
    await pass(3_600_000);
    expect((await send(gateway, late, "query")).status).toBe(404);
  });

  test("belongs to the key that began it, while the key exists", async () => {
    const gateway = await createGateway({ config: { keys: [KEY, "sk-other"] } });
    const address = await begun(gateway, { headers: { "x-gateway-target-account": "two@test" } });
    expect(address).not.toContain(KEY);
    await gateway.request(address, {
      method: "POST",
      headers: {
        "x-goog-upload-command": "upload, finalize",
        "x-goog-upload-offset": "0",
        "x-goog-api-key": "sk-other",
      },
      body: "hello",
    });
    const read = (key: string) =>
      gateway.request("/v1beta/files/file-1", { headers: { "x-goog-api-key": key } });
    expect((await read(KEY)).status).toBe(200);
    expect((await read("sk-other")).status).toBe(404);
    const standard = await gateway.request("/v1/files/file-1", {
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(await standard.json()).toMatchObject({ account_id: "two@test" });
  });

  test("in pieces is limited to a caller's storage, unlike one in a single request", async () => {
    const gateway = await createGateway({ env: { KEPT_CHARACTERS: "4000" } });
    const address = await begun(gateway);
    expect((await send(gateway, address, "upload", 0, "x".repeat(2000))).status).toBe(200);
    expect((await send(gateway, address, "upload", 2000, "x".repeat(2000))).status).toBe(413);
    await fileIn(await send(gateway, address, "upload, finalize", 0, "x".repeat(5000)));
  });

  test("is removed, and then a 404, if newer unfinished uploads need its storage", async () => {
    const gateway = await createGateway({ env: { KEPT_CHARACTERS: "4000" } });
    const [first, second] = [await begun(gateway), await begun(gateway)];
    await send(gateway, first, "upload", 0, "x".repeat(2500));
    await send(gateway, second, "upload", 0, "x".repeat(2500));
    expect((await send(gateway, first, "finalize")).status).toBe(404);
    await fileIn(await send(gateway, second, "finalize"));
  });

  test("is refused at its start if its size, name, provider or key is invalid", async () => {
    const gateway = await createGateway();
    const large = { "x-goog-upload-header-content-length": String(101 * MIB) };
    expect((await start(gateway, { headers: large })).status).toBe(413);
    const named = await start(gateway, { body: { file: { name: "files/mine" } } });
    expect([named.status, await named.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringContaining("file.name") }) },
    ]);
    expect((await start(gateway, { headers: { "x-gateway-provider": "nobody" } })).status).toBe(400);
    expect((await gateway.request("/upload/v1beta/files", { method: "POST" })).status).toBe(401);
  });
});

describe("an upload in one request", () => {
  const RELATED = (metadata: string, content: string) =>
    `--b\r\ncontent-type: application/json\r\n\r\n${metadata}\r\n--b\r\nContent-Type: text/css\r\n\r\n${content}\r\n--b--\r\n`;
  const post = (gateway: MemoryGateway, type: string, body: string) =>
    gateway.request("/upload/v1beta/files", {
      method: "POST",
      headers: { "x-goog-api-key": KEY, "content-type": type },
      body,
    });

  test.each(["multipart/related; boundary=b", 'multipart/related;type="application/json"; boundary="b"'])(
    "%s",
    async (type) => {
      const gateway = await createGateway();
      const body = RELATED('{"file":{"displayName":"Styles"}}', "a{\r\n--c}");
      const file = await fileIn(await post(gateway, type, body));
      expect(file).toMatchObject({ displayName: "Styles", mimeType: "text/css" });
      expect(uploads(gateway)).toMatchObject([{ body: expect.stringContaining("\r\n\r\na{\r\n--c}\r\n--") }]);
    },
  );

  test("with an empty file", async () => {
    const gateway = await createGateway();
    await fileIn(await post(gateway, "multipart/related; boundary=b", RELATED("{}", "")));
    expect(uploads(gateway)).toMatchObject([{ body: expect.stringContaining("\r\n\r\n\r\n--") }]);
  });

  test("as the bare file", async () => {
    const gateway = await createGateway();
    expect(await fileIn(await post(gateway, "text/css", "a{}"))).toMatchObject({ mimeType: "text/css" });
  });

  test.each([
    ["metadata that is no JSON", RELATED("{", "x")],
    ["metadata that is no object", RELATED("[]", "x")],
    ["a name of its own", RELATED('{"file":{"name":"files/x"}}', "x")],
    ["no file", "--b\r\ncontent-type: application/json\r\n\r\n{}\r\n--b--\r\n"],
    ["no end", RELATED("{}", "x").slice(0, -8)],
    ["too much metadata", RELATED(`{"a":"${"x".repeat(70_000)}"}`, "x")],
    ["no parts", "hello"],
  ])("with %s is a 400", async (_name, body) => {
    const gateway = await createGateway();
    const response = await post(gateway, "multipart/related; boundary=b", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  });
});
