import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startFileBackend } from "../support/file-backend.ts";
import { until } from "../support/until.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const OTHER_KEY = "sk-other";
const MIB = 1024 * 1024;

const backend = await startFileBackend();
afterAll(() => backend.close());

/** The configured providers: one of each driver, and one of them with two accounts. */
const DRIVERS = { chat: "openai", answers: "openai-responses", claude: "anthropic", gem: "gemini" } as const;
type ProviderId = keyof typeof DRIVERS;
const IDS: readonly ProviderId[] = ["chat", "answers", "claude", "gem"];

const test = useGateway({
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY, OTHER_KEY],
      accounts: [
        { email: "one@sandbox.test", password: "sandbox" },
        { token: "chat-key-1", name: "one", provider: "chat", email: "chat-1@backend.test" },
        { token: "chat-key-2", name: "two", provider: "chat", email: "chat-2@backend.test" },
      ],
      providers: IDS.map((id) => ({
        id,
        driver: DRIVERS[id],
        base_url: id === "chat" || id === "answers" ? `${backend.url}/v1` : backend.url,
        token: `key-of-${id}`,
        models: { m: "model-there" },
      })),
    }),
  },
});

const bearer = (key = DEV_KEY) => ({ authorization: `Bearer ${key}` });

interface FileObject {
  readonly id: string;
  readonly account_id: string;
  readonly bytes: number;
  readonly expires_at: number;
}

function form(
  content: string | Uint8Array<ArrayBuffer> = "hello",
  name = "a.pdf",
  type = "application/pdf",
): FormData {
  const data = new FormData();
  data.append("purpose", "user_data");
  data.append("file", new File([content], name, { type }));
  return data;
}

const send = (provider: string, body: FormData = form(), headers: Record<string, string> = bearer()) =>
  test.fetch("/v1/files", { method: "POST", headers: { ...headers, "x-gateway-provider": provider }, body });

async function uploaded(
  provider: string,
  body?: FormData,
  headers?: Record<string, string>,
): Promise<FileObject> {
  const response = await send(provider, body, headers);
  expect(response.status).toBe(200);
  return response.json();
}

const ask = (model: string, id: string, headers: Record<string, string> = {}) =>
  test.post(
    "/v1/chat/completions",
    {
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Read." },
            { type: "file", file: { file_id: id } },
          ],
        },
      ],
    },
    headers,
  );

const errorOf = async (response: Response) => {
  const { error }: { error: { code: string; message: string } } = await response.json();
  return { status: response.status, ...error };
};

const onlyFile = () => {
  const [file, ...others] = backend.files.values();
  if (file === undefined || others.length > 0) throw new Error(`the backend has ${backend.files.size} files`);
  return file;
};

beforeEach(() => {
  backend.files.clear();
  backend.asked.length = 0;
  backend.refuses = null;
});

describe.each(IDS)("a file for the provider %s", (provider) => {
  it("is stored at the provider, whose id replaces the gateway's id in requests", async () => {
    const file = await uploaded(provider);
    const there = onlyFile();
    expect(there).toMatchObject({ bytes: 5, filename: "a.pdf", mediaType: "application/pdf" });
    expect(file).toMatchObject({
      object: "file",
      bytes: 5,
      filename: "a.pdf",
      status: "processed",
      purpose: "user_data",
    });
    expect(file.id).toMatch(/^file-[\da-f]{32}$/);
    const days = (file.expires_at - Date.now() / 1000) / 86_400;
    expect(days).toBeCloseTo(provider === "gem" ? 2 : 30, 1);
    const response = await ask(`${provider}/m`, file.id);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Read." } }] });
    const [asked] = backend.asked;
    expect(asked).toMatchObject({ key: there.key });
    const reference = {
      chat: `{"type":"file","file":{"file_id":"${there.id}"}}`,
      answers: `{"type":"input_file","file_id":"${there.id}"}`,
      claude: `{"type":"document","source":{"type":"file","file_id":"${there.id}"},"title":"a.pdf"}`,
      gem: `{"fileData":{"mimeType":"application/pdf","fileUri":"https://files.backend.example/v1beta/files/${there.id}"}}`,
    };
    expect(asked?.body).toContain(reference[provider]);
    expect(asked?.body).not.toContain(file.id);
    expect(asked?.beta).toBe(provider === "claude" ? "files-api-2025-04-14" : "");
  });

  it("is read, listed and deleted, there too", async () => {
    const file = await uploaded(provider);
    const read = await test.fetch(`/v1/files/${file.id}`, { headers: bearer() });
    expect(await read.json()).toEqual(file);
    const list = await test.fetch("/v1/files", { headers: bearer() });
    expect(await list.json()).toMatchObject({ data: expect.arrayContaining([file]) });
    for (const method of ["GET", "DELETE"]) {
      const foreign = await test.fetch(`/v1/files/${file.id}`, { method, headers: bearer(OTHER_KEY) });
      expect(await errorOf(foreign)).toMatchObject({ status: 404, code: "file_not_found" });
    }
    const deleted = await test.fetch(`/v1/files/${file.id}`, { method: "DELETE", headers: bearer() });
    expect(await deleted.json()).toEqual({ id: file.id, object: "file", deleted: true });
    expect(backend.files.size).toBe(0);
    const again = await test.fetch(`/v1/files/${file.id}`, { headers: bearer() });
    expect(await errorOf(again)).toMatchObject({ status: 404, code: "file_not_found" });
  });

  it("that was deleted there is a 404, also in a conversation, and leaves the list", async () => {
    const { id } = await uploaded(provider);
    backend.files.clear();
    expect(await errorOf(await ask(`${provider}/m`, id))).toMatchObject({
      status: 404,
      code: "file_not_found",
      message: expect.stringMatching(new RegExp(`${id}.*(?:deleted|expired)`)),
    });
    const read = await test.fetch(`/v1/files/${id}`, { headers: bearer() });
    expect(await errorOf(read)).toMatchObject({ status: 404, code: "file_not_found" });
    expect(await (await test.fetch("/v1/files", { headers: bearer() })).text()).not.toContain(id);
    const account = await ask(`${provider}/m`, (await uploaded(provider)).id);
    expect(account.status).toBe(200);
    await account.body?.cancel();
  });

  it("is a 400 with a model of another provider", async () => {
    const { id } = await uploaded(provider);
    for (const model of ["provider-v4-flash", `${provider === "chat" ? "claude" : "chat"}/m`]) {
      const error = await errorOf(await ask(model, id));
      expect(error).toMatchObject({
        status: 400,
        message: expect.stringContaining(`of the provider "${provider}"`),
      });
    }
    expect(backend.asked).toEqual([]);
  });

  it.each([404, 405, 501])(
    "is a 501 if the backend answers %i, and the account stays usable",
    async (status) => {
      backend.refuses = status;
      expect(await errorOf(await send(provider))).toMatchObject({
        status: 501,
        code: "unsupported",
        message: expect.stringContaining("stores no files"),
      });
      backend.refuses = null;
      expect(await uploaded(provider)).toMatchObject({ bytes: 5 });
    },
  );

  it("reaches the backend while its caller still sends it", async () => {
    const boundary = "XBOUNDARYX";
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
    const encoder = new TextEncoder();
    const pieces = [encoder.encode(head), ...Array.from({ length: 8 }, () => new Uint8Array(MIB))];
    backend.received = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        await until(
          async () => backend.received,
          (received) => received > 2 * MIB,
        );
        controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`));
        controller.close();
      },
    });
    const headers = {
      ...bearer(),
      "x-gateway-provider": provider,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    };
    const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    expect(await (await test.fetch("/v1/files", init)).json()).toMatchObject({ bytes: 8 * MIB });
    expect(onlyFile().bytes).toBe(8 * MIB);
  }, 60_000);

  it("of the openai SDK", async () => {
    const client = new OpenAI({
      apiKey: DEV_KEY,
      baseURL: `${test.gateway.url}/v1`,
      defaultHeaders: { "x-gateway-provider": provider },
    });
    const made = await client.files.create({
      file: await toFile(Buffer.from("hi"), "a.png"),
      purpose: "vision",
    });
    expect(await client.files.waitForProcessing(made.id)).toMatchObject({ id: made.id, status: "processed" });
    const input = [
      {
        role: "user" as const,
        content: [{ type: "input_image" as const, file_id: made.id, detail: "auto" as const }],
      },
    ];
    expect((await client.responses.create({ model: `${provider}/m`, input })).output_text).toBe("Read.");
    expect(backend.asked[0]?.body).toContain(onlyFile().id);
    expect(await client.files.delete(made.id)).toMatchObject({ deleted: true });
  });

  it("of the Anthropic SDK", async () => {
    const client = new Anthropic({
      apiKey: DEV_KEY,
      authToken: null,
      baseURL: test.gateway.url,
      defaultHeaders: { "x-gateway-provider": provider },
    });
    const made = await client.files.upload({
      file: await toFile(Buffer.from("hi"), "a.txt", { type: "text/plain" }),
    });
    expect(await client.files.retrieveMetadata(made.id)).toEqual(made);
    const message = await client.messages.create({
      model: `${provider}/m`,
      max_tokens: 100,
      messages: [
        {
          role: "user",
          content: [
            { type: "document", source: { type: "file", file_id: made.id } },
            { type: "text", text: "Read." },
          ],
        },
      ],
    });
    expect(message.content).toMatchObject([{ type: "text", text: "Read." }]);
    expect(backend.asked[0]?.body).toContain(onlyFile().id);
    expect(await client.files.delete(made.id)).toEqual({ id: made.id, type: "file_deleted" });
  });

  it("of the Google SDK, which uploads resumably", async () => {
    const client = new GoogleGenAI({
      apiKey: DEV_KEY,
      httpOptions: { baseUrl: test.gateway.url, headers: { "x-gateway-provider": provider } },
    });
    const made = await client.files.upload({
      file: new Blob(["hello"], { type: "text/plain" }),
      config: { displayName: "a.txt" },
    });
    expect(made).toMatchObject({ state: "ACTIVE", mimeType: "text/plain", sizeBytes: "5" });
    const { name = "", uri = "", mimeType = "" } = made;
    expect(await client.files.get({ name })).toMatchObject({ name, uri });
    const answer = await client.models.generateContent({
      model: `${provider}/m`,
      contents: [{ role: "user", parts: [{ fileData: { fileUri: uri, mimeType } }, { text: "Read." }] }],
    });
    expect(answer.text).toBe("Read.");
    expect(backend.asked[0]?.body).toContain(onlyFile().id);
    await client.files.delete({ name });
    expect(backend.files.size).toBe(0);
  });
});

describe("the account that has a file", () => {
  const on = (name: string) => ({ ...bearer(), "x-gateway-target-account": `${name}@backend.test` });

  it("answers all conversations that name the file", async () => {
    for (const name of ["chat-1", "chat-2"]) {
      backend.asked.length = 0;
      const file = await uploaded("chat", form(), on(name));
      expect(file.account_id).toBe(`${name}@backend.test`);
      for (let n = 0; n < 3; n += 1) {
        const response = await ask("chat/m", file.id);
        expect(response.status).toBe(200);
        await response.body?.cancel();
      }
      expect(new Set(backend.asked.map(({ key }) => key))).toEqual(new Set([name.replace("-", "-key-")]));
    }
  });

  it("also chooses the provider of an upload", async () => {
    const response = await test.fetch("/v1/files", { method: "POST", headers: on("chat-2"), body: form() });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gateway-provider")).toBe("chat");
    expect(onlyFile().key).toBe("chat-key-2");
  });
});

describe("the provider of an upload", () => {
  it("is the default provider unless the request names one", async () => {
    for (const headers of [bearer(), { ...bearer(), "x-gateway-provider": "default" }]) {
      const response = await test.fetch("/v1/files", { method: "POST", headers, body: form() });
      expect(await response.json()).toMatchObject({ account_id: "one@sandbox.test" });
    }
    expect(backend.files.size).toBe(0);
  });

  it("that does not exist is a 400", async () => {
    expect(await errorOf(await send("nobody"))).toMatchObject({ status: 400, param: "X-Gateway-Provider" });
  });

  it("that is not the default one needs a key of the gateway", async () => {
    const refused = await send("chat", form(), bearer("sandbox-token-stranger"));
    expect(await errorOf(refused)).toMatchObject({ status: 403, code: "permission_denied" });
    expect(backend.files.size).toBe(0);
  });
});

describe("the content of a file", () => {
  it("is what the provider sends, and no page of the gateway", async () => {
    const { id } = await uploaded("chat");
    const response = await test.fetch(`/v1/files/${id}/content`, { headers: bearer() });
    expect(await response.text()).toBe("<p>content</p>");
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toBe("attachment");
  });

  it("is a 404 for others", async () => {
    const { id } = await uploaded("chat");
    const response = await test.fetch(`/v1/files/${id}/content`, { headers: bearer(OTHER_KEY) });
    expect(await errorOf(response)).toMatchObject({ status: 404, code: "file_not_found" });
  });
});
