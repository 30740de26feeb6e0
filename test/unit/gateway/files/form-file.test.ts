import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFormFile } from "../../../../src/gateway/files/form-file.ts";
import type { BodyLimits } from "../../../../src/gateway/files/incoming-body.ts";
import type { MultipartFile } from "../../../../src/gateway/files/multipart-file.ts";
import { encodeMultipart } from "../../../../src/gateway/providers/files/multipart.ts";

const BOUNDARY = "XX-yy";
const LIMITS: BodyLimits = { bytes: 1_000_000, idleMs: 1000 };
const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

function streamOf(
  pieces: readonly Uint8Array[],
  pulled: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled();
        const piece = pieces[next];
        next += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}

function formOf(
  body: ReadableStream<Uint8Array>,
  limits = LIMITS,
  check: (fields: ReadonlyMap<string, string>) => void = () => undefined,
) {
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    body,
    duplex: "half",
  };
  return readFormFile(new Request("http://gateway/v1/files", init), limits, check);
}

const part = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const filePart = (content: string, name = "a.txt") =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/x-test\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const read = async (form: MultipartFile) => new Uint8Array(await new Response(form.content).arrayBuffer());

describe("an uploaded form", () => {
  // Contents of which much looks like a boundary.
  const content = fc
    .array(
      fc.constantFrom(
        "\r",
        "\n",
        "-",
        "--",
        `--${BOUNDARY}`,
        "\r\n--",
        "\r\n--XX",
        "\r\n--XX-y",
        "x",
        "\u00ff",
      ),
    )
    .map((pieces) => pieces.join(""))
    .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`));

  it("gives the same file and fields for any split and order", async () => {
    await fc.assert(
      fc.asyncProperty(
        content,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (text, sizes, purposeFirst) => {
          const parts = [part("purpose", "vision"), filePart(text)];
          const whole = latin((purposeFirst ? parts : parts.reverse()).join("") + END);
          const form = formOf(streamOf(cut(whole, sizes)));
          expect(await form.head()).toEqual({ filename: "a.txt", mediaType: "text/x-test" });
          expect(await read(form)).toEqual(latin(text));
          expect(form.fields.get("purpose")).toBe("vision");
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reaches the provider through the form writer, also with fields after the file", async () => {
    const purpose = { purpose: "" };
    const file = {
      fields: { model: "flash" },
      fieldsAfter: () => purpose,
      filename: 'a"b\u0000\n é.txt',
      mediaType: "text/x-test",
    };
    const body = streamOf([latin("one"), latin("two")], () => {
      purpose.purpose = "known late";
    });
    const encoded = encodeMultipart({ ...file, body }, BOUNDARY);
    if (encoded.body instanceof Uint8Array) throw new Error("a stream was held");
    const form = formOf(encoded.body);
    // Quotes are percent-encoded on the way, as browsers do.
    expect((await form.head()).filename).toBe("a%22b%00%0A é.txt");
    expect(await read(form)).toEqual(latin("onetwo"));
    expect(Object.fromEntries(form.fields)).toEqual({ purpose: "known late" });
  });

  it("is read only as fast as the file is consumed", async () => {
    let pulls = 0;
    const chunk = new Uint8Array(10_000);
    const pieces = [
      latin(filePart("").slice(0, -2)),
      ...Array.from({ length: 50 }, () => chunk),
      latin(`\r\n${END}`),
    ];
    const form = formOf(
      streamOf(pieces, () => {
        pulls += 1;
      }),
    );
    await form.head();
    const reader = form.content.getReader();
    expect(pulls).toBeLessThan(4);
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pulls).toBeLessThan(6);
    let size = chunk.length;
    for (let next = await reader.read(); !next.done; next = await reader.read()) size += next.value.length;
    expect([pulls, size]).toEqual([pieces.length + 1, 500_000]);
  });

  it("ignores other files, and a second one of the same name", async () => {
    const other = filePart("other").replace('name="file"', 'name="image"');
    const form = formOf(streamOf([latin(other + filePart("first", "1") + filePart("second", "2") + END)]));
    expect(await form.head()).toMatchObject({ filename: "1" });
    expect(await read(form)).toEqual(latin("first"));
  });

  it.each([
    ["in the head", `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filena`],
    ["in the file", filePart("hello").slice(0, -4)],
    ["after the file", filePart("hello")],
    ["nowhere: it is none", "nothing of the kind"],
    ["nowhere: it has no file", part("purpose", "x") + END],
    ["before it begins", ""],
  ])("is a 400 if it is cut off %s", async (_name, text) => {
    const form = formOf(streamOf(text === "" ? [] : [latin(text)]));
    const outcome = form.head().then(() => read(form));
    await expect(outcome).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  });

  it("is a 413 above its limit, by counted and by declared length", async () => {
    const whole = latin(filePart("x".repeat(5000)) + END);
    const exact = formOf(streamOf(cut(whole, [100])), { ...LIMITS, bytes: whole.length });
    await exact.head();
    expect(await read(exact)).toHaveLength(5000);
    const over = formOf(streamOf(cut(whole, [100])), { ...LIMITS, bytes: whole.length - 1 });
    await over.head();
    await expect(read(over)).rejects.toMatchObject({ status: 413 });
    const headers = {
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      "content-length": "2000000",
    };
    const request = new Request("http://gateway/v1/files", { method: "POST", headers, body: "x" });
    expect(() => readFormFile(request, LIMITS, () => undefined)).toThrow(
      expect.objectContaining({ status: 413 }),
    );
  });

  it("is a 400 with an extremely long boundary", () => {
    const of = (length: number) =>
      new Request("http://gateway/v1/files", {
        method: "POST",
        headers: { "content-type": `multipart/form-data; boundary="${"b".repeat(length)}"` },
        body: "x",
      });
    expect(() => readFormFile(of(70), LIMITS)).not.toThrow();
    expect(() => readFormFile(of(1000), LIMITS)).toThrow(
      expect.objectContaining({ status: 400, code: "invalid_request" }),
    );
  });

  it("is a 408 if the client falls silent", async () => {
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(latin(filePart("x"))),
    });
    const form = formOf(silent, { ...LIMITS, idleMs: 20 });
    await form.head();
    await expect(read(form)).rejects.toMatchObject({ status: 408 });
  });

  it("fails at its end if its check fails", async () => {
    const form = formOf(streamOf([latin(filePart("x") + part("purpose", "bad") + END)]), LIMITS, (fields) => {
      throw new Error(`refused ${fields.get("purpose")}`);
    });
    await form.head();
    await expect(read(form)).rejects.toThrow("refused bad");
  });
});
