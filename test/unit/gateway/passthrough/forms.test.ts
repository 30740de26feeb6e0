import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes } from "../../../../src/core/encoding/bytes.ts";
import { FormParser } from "../../../../src/gateway/passthrough/form-parser.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Forms that are sent on: with the model's name at the provider, and with everything else as it was. */

const MIB = 1024 * 1024;
const BOUNDARY = "the-boundary";
const PATH = "/v1/audio/transcriptions";

const createGateway = useMemoryGateway();

const VENDOR = {
  id: "vendor",
  driver: "openai",
  base_url: "http://vendor.test/v1",
  token: "sk-1",
  models: { mine: "real-name", other: "other-name" },
};
const TWO_ACCOUNTS = ["sk-1", "sk-2"].map((token) => ({ token, provider: "vendor" }));

const ok: Reply = { json: { text: "Hello." } };
const behind = (reply: (asked: UpstreamRequest) => Reply = () => ok, config: object = {}) =>
  createGateway({ upstream: new ScriptedUpstream(reply), config: { providers: [VENDOR], ...config } });

const part = (name: string, value: string, more = "") =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const file = (value: string, name = "file") =>
  part(name, value, '; filename="a.mp3"\r\nContent-Type: audio/mpeg');
const END = `--${BOUNDARY}--\r\n`;
const MODEL = part("model", "vendor/mine");

function send(
  gateway: MemoryGateway,
  body: BodyInit,
  path = PATH,
  init: RequestInit = {},
): Promise<Response> {
  return gateway.request(path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    },
    body,
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    ...init,
  });
}

/** A body whose pieces arrive one by one, each after a pause. */
function bodyOf(pieces: Iterable<string>, pauseMs: number): ReadableStream<Uint8Array> {
  const rest = pieces[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const { done, value } = rest.next();
      if (done === true) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
  });
}

const formOf = ({ headers, body }: UpstreamRequest) =>
  new Response(body, { headers: { "content-type": headers.get("content-type") ?? "" } }).formData();

/** The fields of a form in their order; of files the name, the type and the size. */
const fieldsOf = async (asked: UpstreamRequest) =>
  [...(await formOf(asked))].map(([name, value]) =>
    value instanceof File ? [name, value.name, value.type, value.size] : [name, value],
  );

function onlyRequest({ upstream }: MemoryGateway): UpstreamRequest {
  const [request, ...others] = upstream.asked;
  if (request === undefined || others.length > 0)
    throw new Error(`${upstream.asked.length} requests were sent`);
  return request;
}

describe("a form", () => {
  test.each([
    ["first", MODEL + part("prompt", "ü") + file("abc")],
    ["last", part("prompt", "ü") + file("abc") + MODEL],
  ])("whose model comes %s keeps its other fields and files", async (_, body) => {
    const gateway = await behind();
    const response = await send(gateway, body + END);
    expect([response.status, await response.json()]).toEqual([200, { text: "Hello." }]);
    expect(await fieldsOf(onlyRequest(gateway))).toEqual([
      ["model", "real-name"],
      ["prompt", "ü"],
      ["file", "a.mp3", "audio/mpeg", 3],
    ]);
    const [record] = await gateway.history();
    expect(record).toMatchObject({ status: "success", model: "vendor/mine" });
    expect(JSON.stringify(record?.messages)).toContain("[a.mp3, audio/mpeg]");
  });

  test("keeps the bytes of a part that has a binary media type and no file name", async () => {
    const head = 'Content-Disposition: form-data; name="file"\r\nContent-Type: audio/wav\r\n\r\n';
    const bytes = Uint8Array.of(0xff, 0x00, 0xc3, 0x28);
    const parser = new FormParser(`multipart/form-data; boundary=${BOUNDARY}`, "written", true);
    await parser.write(
      concatBytes([Buffer.from(`--${BOUNDARY}\r\n${head}`), bytes, Buffer.from(`\r\n${END}`)]),
    );
    await parser.end();
    const written = Buffer.from(concatBytes(parser.takePieces()));
    expect(written.includes(bytes)).toBe(true);
    expect(written.toString("latin1")).toContain("audio/wav");
  });

  /** What the parser writes of a form that arrives in pieces of a size. */
  async function rewrite(type: string, bytes: Uint8Array, size: number): Promise<FormData> {
    const parser = new FormParser(type, "written", true);
    const written: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      await parser.write(bytes.subarray(at, at + size));
      written.push(...parser.takePieces());
    }
    await parser.end();
    written.push(...parser.takePieces(), Buffer.from("--written--\r\n"));
    const headers = { "content-type": "multipart/form-data; boundary=written" };
    return new Response(concatBytes(written), { headers }).formData();
  }

  test("keeps any names, types, texts and files, in any pieces", async () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
      .filter((text) => !/\p{Cc}/u.test(text));
    const type = fc.constantFrom(
      "audio/webm;codecs=opus",
      'audio/webm; codecs="a;b"',
      "text/plain;charset=utf-8",
      "",
    );
    const field = fc.record({
      name: name.map((text) => `x${text}`),
      value: fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.record({ bytes: fc.uint8Array({ maxLength: 300 }), filename: name, type }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 6 }),
        fc.integer({ min: 1, max: 400 }),
        async (fields, size) => {
          const form = new FormData();
          for (const { name: key, value } of fields) {
            if (typeof value === "string") form.append(key, value);
            else
              form.append(key, new File([new Uint8Array(value.bytes)], value.filename, { type: value.type }));
          }
          const sent = new Response(form);
          const contentType = sent.headers.get("content-type") ?? "";
          const bytes = new Uint8Array(await sent.arrayBuffer());
          const expected = await new Response(bytes, { headers: { "content-type": contentType } }).formData();
          const list = (of: FormData) =>
            Promise.all(
              [...of].map(async ([key, value]) =>
                typeof value === "string" ? [key, value] : [key, value.name, value.type, await value.text()],
              ),
            );
          expect(await list(await rewrite(contentType, bytes, size))).toEqual(await list(expected));
        },
      ),
    );
  });

  test("writes text in another character set as UTF-8", async () => {
    const head =
      'Content-Disposition: form-data; name="prompt"\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n';
    const bytes = Buffer.from(`--${BOUNDARY}\r\n${head}na\u00efve\r\n${END}`, "latin1");
    const form = await rewrite(`multipart/form-data; boundary=${BOUNDARY}`, bytes, bytes.length);
    expect([...form]).toEqual([["prompt", "na\u00efve"]]);
  });

  test.each([
    ["filename*=UTF-8''na%C3%AFve.mp3", "na\u00efve.mp3"],
    ["filename*=iso-8859-1''na%EFve.mp3; filename=plain.mp3", "na\u00efve.mp3"],
    ["FileName = plain.mp3 ;", "plain.mp3"],
    ['filename="a \\"quoted\\" C:\\dir.mp3"', 'a "quoted" C:\\dir.mp3'],
  ])("reads a file name from %s", async (parameter, filename) => {
    const bytes = Buffer.from(part("file", "abc", `; ${parameter}`) + END);
    const parser = new FormParser(`multipart/form-data; boundary="${BOUNDARY}"`, "written", true);
    await parser.write(bytes);
    await parser.end();
    expect(parser.fields).toEqual([{ name: "file", text: `[${filename}, text/plain]`, isFile: true }]);
  });

  test("takes its model from the path of a deployment", async () => {
    const gateway = await behind();
    const path = "/openai/deployments/vendor%2Fmine/audio/transcriptions?api-version=1";
    const response = await send(gateway, part("model", "ignored") + file("abc") + END, path);
    expect(response.status).toBe(200);
    await response.text();
    expect((await formOf(onlyRequest(gateway))).getAll("model")).toEqual(["real-name"]);
  });

  test("keeps repeated files and the media type of a field", async () => {
    const gateway = await behind();
    const json = part("meta", "{}", "\r\nContent-Type: application/json");
    const body = MODEL + file("a", "image[]") + file("bc", "image[]") + json + END;
    await (await send(gateway, body, "/v1/images/edits")).text();
    expect(await fieldsOf(onlyRequest(gateway))).toEqual([
      ["model", "real-name"],
      ["image[]", "a.mp3", "audio/mpeg", 1],
      ["image[]", "a.mp3", "audio/mpeg", 2],
      ["meta", "{}"],
    ]);
    expect(onlyRequest(gateway).body).toContain("application/json");
  });

  test("is held while its model follows a large file", async () => {
    const gateway = await behind();
    const response = await send(gateway, file("x".repeat(3 * MIB)) + MODEL + END);
    expect(response.status).toBe(200);
    await response.text();
    expect(await fieldsOf(onlyRequest(gateway))).toEqual([
      ["model", "real-name"],
      ["file", "a.mp3", "audio/mpeg", 3 * MIB],
    ]);
  });

  test("is sent on while it arrives, if the model comes first", async () => {
    const gateway = await behind();
    let askedBeforeEnd = 0;
    function* pieces() {
      yield MODEL + file("").slice(0, -2);
      for (let index = 0; index < 8; index += 1) {
        if (index === 7) askedBeforeEnd = gateway.upstream.asked.length;
        yield "y".repeat(MIB / 2);
      }
      yield `\r\n${END}`;
    }
    const answer = send(gateway, bodyOf(pieces(), 10));
    await pass(1_000);
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([200, { text: "Hello." }]);
    expect(askedBeforeEnd).toBe(1);
    expect((await fieldsOf(onlyRequest(gateway))).at(-1)).toEqual(["file", "a.mp3", "audio/mpeg", 4 * MIB]);
  });

  test.each([
    ["while it is held", "abc", 2, 200],
    ["not once it was sent in part", "x".repeat(3 * MIB), 1, 429],
  ])("goes to another account %s", async (_, content, requests, status) => {
    let answers = 0;
    const gateway = await behind(
      () =>
        ++answers === 1 ? { status: 429, json: { error: { message: "slow down", code: "rate_limit" } } } : ok,
      { accounts: TWO_ACCOUNTS },
    );
    const response = await send(gateway, MODEL + file(content) + END);
    expect(response.status).toBe(status);
    await response.text();
    expect(gateway.upstream.asked).toHaveLength(requests);
    expect(new Set(gateway.upstream.asked.map(({ token }) => token)).size).toBe(requests);
  });

  test("streams its answer if its field says so", async () => {
    const events = ['data: {"type":"transcript.text.delta","delta":"Hel"}\n\n', "data: [DONE]\n\n"];
    const gateway = await behind(() => ({ body: events }));
    const response = await send(gateway, MODEL + part("stream", "true") + file("abc") + END);
    expect([response.headers.get("content-type"), await response.text()]).toEqual([
      expect.stringContaining("text/event-stream"),
      events.join(""),
    ]);
    expect((await gateway.history())[0]).toMatchObject({ stream: true });
  });

  test.each([
    ["without an end", MODEL + file("abc"), 400, null],
    ["without a model", file("abc") + END, 400, "model"],
    ["with two models", MODEL + part("model", "vendor/other") + file("abc") + END, 400, "model"],
    ...["Model", "model[]", " model", "models", "fallbacks[0]"].map(
      (name): [string, string, number, string] => [
        `with a second model as ${name}`,
        MODEL + part(name, "vendor/other") + file("abc") + END,
        400,
        "model",
      ],
    ),
    [
      "with a second model after it was sent in part",
      MODEL + file("z".repeat(3 * MIB)) + part("Model", "vendor/other") + END,
      400,
      "model",
    ],
    ["with a file as model", part("model", "vendor/mine", '; filename="m"') + END, 400, "model"],
    [
      "with a part without a name",
      `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n${END}`,
      400,
      null,
    ],
    [
      "with an unnamed type of part",
      `--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nx\r\n${MODEL}${END}`,
      400,
      null,
    ],
    [
      "with a part that is no field",
      `--${BOUNDARY}\r\nContent-Disposition: attachment; name="mask"; filename="m.png"\r\n\r\nx\r\n${MODEL}${END}`,
      400,
      null,
    ],
    [
      "with a part that ends in its head",
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n${MODEL}${END}`,
      400,
      null,
    ],
    [
      "with a line break in a file name",
      MODEL + part("file", "abc", '; filename="a\nb.mp3"') + END,
      400,
      null,
    ],
    [
      "with an encoded line break in a file name",
      MODEL + part("file", "abc", "; filename*=UTF-8''a%0d%0ab") + END,
      400,
      null,
    ],
    ["with an open quote in its head", MODEL + part("file", "abc", '; filename="a') + END, 400, null],
    [
      "with a huge file name",
      MODEL + part("file", "abc", `; filename="${"n".repeat(20_000)}"`) + END,
      400,
      null,
    ],
    [
      "with an unknown character set",
      MODEL + part("prompt", "abc", "\r\nContent-Type: text/plain; charset=nothing") + END,
      400,
      null,
    ],
    ["with a huge field", part("prompt", "p".repeat(MIB)) + MODEL + END, 413, "prompt"],
    ["with too many parts", part("x", "y").repeat(200) + MODEL + END, 400, null],
    ["that is none", "hello", 400, null],
    ["with a model after too large a file", file("z".repeat(33 * MIB)) + MODEL + END, 413, "model"],
  ])("is refused: %s", async (_, body, status, param) => {
    const gateway = await behind();
    const response = await send(gateway, body);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { param } }]);
    await gateway.settle();
    expect(gateway.upstream.asked.filter(({ outcome }) => outcome === "done")).toEqual([]);
  });

  test.each([
    ["another type", "text/plain", "hello"],
    ["a type without a boundary", "multipart/form-data", MODEL + END],
    ["a huge boundary", `multipart/form-data; boundary=${"b".repeat(300)}`, MODEL + END],
  ])("with %s is refused", async (_, type, body) => {
    const gateway = await behind();
    const headers = { authorization: `Bearer ${KEY}`, "content-type": type };
    const response = await send(gateway, body, PATH, { headers });
    expect(response.status).toBe(400);
    await response.text();
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("times out if it stops arriving before its model is known", async () => {
    const gateway = await behind();
    const answer = send(
      gateway,
      bodyOf([part("prompt", "x")].concat(Array<string>(20).fill(part("y", "z"))), 20_000),
    );
    await pass(500_000);
    const response = await answer;
    expect(response.status).toBe(408);
    await response.text();
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("ends its request to the provider if the caller leaves", async () => {
    const gateway = await behind();
    const leaving = new AbortController();
    function* pieces() {
      yield MODEL + file("").slice(0, -2);
      for (;;) yield "y".repeat(MIB / 2);
    }
    const answer = send(gateway, bodyOf(pieces(), 10), PATH, {
      signal: leaving.signal,
      duplex: "half",
    } as RequestInit).catch((error: unknown) => error);
    await pass(100);
    leaving.abort();
    await answer;
    await gateway.expectIdle();
    expect(onlyRequest(gateway).outcome).toBe("cancelled");
  });
});
