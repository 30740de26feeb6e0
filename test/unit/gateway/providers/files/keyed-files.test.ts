import { describe, expect, it } from "vitest";
import type { Part } from "../../../../../src/core/conversation/conversation.ts";
import type {
  FilesApi,
  FileUpload,
  ProviderFile,
} from "../../../../../src/gateway/providers/files/files-api.ts";
import * as anthropic from "../anthropic/fake.ts";
import * as gemini from "../gemini/fake.ts";
import * as openai from "../openai/fake.ts";
import * as openaiResponses from "../openai-responses/fake.ts";
import {
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  type Seen,
  user,
} from "../support.ts";

const CREATED = 1_800_000_000;
const EXPIRES = CREATED + 172_800;
const toIso = (seconds: number) => new Date(seconds * 1000).toISOString();

const bearerFile = {
  id: "there",
  object: "file",
  bytes: 5,
  created_at: CREATED,
  expires_at: EXPIRES,
  filename: "a.pdf",
  purpose: "user_data",
  status: "processed",
};

const backends = [
  {
    name: "openai",
    ...openai,
    file: bearerFile,
    upload: "/v1/files",
    read: "/v1/files/there",
    purpose: "user_data",
  },
  {
    name: "openai-responses",
    ...openaiResponses,
    file: bearerFile,
    upload: "/v1/files",
    read: "/v1/files/there",
    purpose: "user_data",
  },
  {
    name: "anthropic",
    ...anthropic,
    file: {
      id: "there",
      type: "file",
      filename: "a.pdf",
      mime_type: "application/pdf",
      size_bytes: 5,
      created_at: toIso(CREATED),
      expires_at: toIso(EXPIRES),
    },
    upload: "/v1/files",
    read: "/v1/files/there",
    purpose: "",
  },
  {
    name: "gemini",
    ...gemini,
    file: {
      name: "files/there",
      displayName: "a.pdf",
      mimeType: "application/pdf",
      sizeBytes: "5",
      createTime: toIso(CREATED),
      expirationTime: toIso(EXPIRES),
      uri: "https://backend.example/v1beta/files/there",
      state: "ACTIVE",
    },
    upload: "/upload/v1beta/files",
    read: "/v1beta/files/there",
    purpose: "",
  },
] as const;

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  return new Blob(pieces).stream();
}

function upload(changes: Partial<FileUpload> = {}): FileUpload {
  return {
    filename: "a.pdf",
    mediaType: "application/pdf",
    purpose: () => "",
    model: "",
    body: streamOf("he", "llo"),
    ...changes,
  };
}

describe.each(backends)("files of a backend, driver $name", (backend) => {
  const { provider, file } = backend;
  const known: ProviderFile = {
    id: "there",
    ...("uri" in file ? { uri: file.uri } : {}),
    bytes: 5,
    filename: "a.pdf",
    purpose: backend.purpose,
    status: "processed",
    createdAt: CREATED,
    expiresAt: EXPIRES,
  };
  const files = (): Required<Omit<FilesApi, "showsOwnIds">> => {
    const { files: kept } = provider();
    if (kept?.delete === undefined || kept.readContent === undefined) throw new Error("no files");
    return { upload: kept.upload, read: kept.read, delete: kept.delete, readContent: kept.readContent };
  };
  const answering = (respond: (request: Seen) => Response) => new FakeUpstream(respond);
  const credential = {
    openai: "authorization",
    "openai-responses": "authorization",
    anthropic: "x-api-key",
    gemini: "x-goog-api-key",
  }[backend.name];

  it("are uploaded as a stream, with the account's key", async () => {
    const wrapped = backend.name === "gemini" ? { file } : file;
    const fake = answering(() => Response.json(wrapped));
    expect(await files().upload(fake.account, upload(), neverAborted())).toEqual(known);
    const [sent] = fake.seen;
    expect([sent?.method, new URL(sent?.url ?? "").pathname]).toEqual(["POST", backend.upload]);
    expect(sent?.headers.get(credential)).toContain("token-of-the-account");
    expect(sent?.body).toContain("Content-Type: application/pdf\r\n\r\nhello\r\n");
    if (backend.name === "anthropic")
      expect(sent?.headers.get("anthropic-beta")).toBe("files-api-2025-04-14");
    if (backend.name === "gemini") {
      expect(sent?.headers.get("content-type")).toMatch(/^multipart\/related; boundary=/);
      expect(sent?.body).toContain('{"file":{"displayName":"a.pdf","mimeType":"application/pdf"}}');
      return;
    }
    const form = await sent?.form();
    expect(form?.get("purpose")).toBe(backend.name === "anthropic" ? null : "user_data");
    expect(form?.get("file")).toMatchObject({ name: "a.pdf", size: 5 });
  });

  it("are read, deleted and downloaded at their own address", async () => {
    const fake = answering(({ url }) =>
      /content$|alt=media$/.test(url) ? new Response("hello") : Response.json(file),
    );
    expect(await files().read(fake.account, "there", neverAborted())).toEqual(known);
    await files().delete(fake.account, "there", neverAborted());
    const content = await files().readContent(fake.account, "there", neverAborted());
    expect(await new Response(content).text()).toBe("hello");
    expect(fake.seen.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
      `GET ${backend.read}`,
      `DELETE ${backend.read}`,
      `GET ${backend.read}${backend.name === "gemini" ? ":download" : "/content"}`,
    ]);
  });

  it.each([404, 405, 501])("are a 501 if the backend answers %i to an upload", async (status) => {
    const fake = answering(() => Response.json({ error: { message: "Not Found" } }, { status }));
    await expect(files().upload(fake.account, upload(), neverAborted())).rejects.toMatchObject({
      status: 501,
      code: "unsupported",
    });
  });

  it.each<[string, Response]>([
    ["404", Response.json({ error: { message: "No such file" } }, { status: 404 })],
    ["410", Response.json({ error: { message: "Expired" } }, { status: 410 })],
    [
      "403 that hides which",
      Response.json(
        {
          error: {
            code: 403,
            message: "You have no permission, or it may not exist.",
            status: "PERMISSION_DENIED",
          },
        },
        { status: 403 },
      ),
    ],
  ])("that are gone are not found: %s", async (_, response) => {
    const fake = answering(() => response.clone());
    for (const operation of [files().read, files().delete, files().readContent]) {
      await expect(operation(fake.account, "there", neverAborted())).rejects.toMatchObject({
        kind: "not_found",
      });
    }
  });

  it("do not blame the account if the backend forbids one", async () => {
    const fake = answering(() =>
      Response.json({ error: { message: "Storage limit exceeded" } }, { status: 403 }),
    );
    await expect(files().upload(fake.account, upload(), neverAborted())).rejects.toMatchObject({
      kind: "invalid_request",
      message: "the provider says: Storage limit exceeded",
    });
  });

  it("are malformed in an answer without a file", async () => {
    const fake = answering(() => Response.json({}));
    await expect(files().read(fake.account, "there", neverAborted())).rejects.toMatchObject({
      kind: "malformed",
    });
  });

  it.each(["..", "a/b", "a?b"])("with the id %s are not requested", async (id) => {
    const fake = answering(() => Response.json(file));
    await expect(files().read(fake.account, id, neverAborted())).rejects.toMatchObject({ kind: "not_found" });
    expect(fake.seen).toEqual([]);
  });

  const part: Part = {
    type: "file",
    source: {
      kind: "file",
      fileId: "here",
      stored: { id: "there", filename: "a.pdf", mediaType: "application/pdf" },
    },
  };
  const ask = (respond: (request: Seen, turn: number) => Response) => {
    let turns = 0;
    const fake = new FakeUpstream((request) => {
      if (request.method === "POST") turns += 1;
      return respond(request, turns);
    });
    const prepared = provider().prepare(conversation({ messages: [user(part)] }), prepareOptions());
    return { fake, opened: prepared.open(fake.account, neverAborted(), null) };
  };
  const refusal = (status: number) =>
    Response.json({ error: { message: "no", status: "PERMISSION_DENIED" } }, { status });

  it.each([400, 403, 404])(
    "that expired are a 404 in a conversation which is refused with %i",
    async (status) => {
      const { opened } = ask(({ method }) => refusal(method === "POST" ? status : 404));
      await expect(opened).rejects.toMatchObject({
        status: 404,
        code: "file_not_found",
        param: "messages",
        message: expect.stringContaining('"here"'),
      });
    },
  );

  it("that exist do not change the refusal of a conversation", async () => {
    const { opened } = ask(({ method }) => (method === "POST" ? refusal(403) : Response.json(file)));
    await expect(opened).rejects.toMatchObject({ kind: "account_suspended" });
  });

  if (backend.name === "gemini") {
    it("that are in processing are waited for", async () => {
      let reads = 0;
      const { fake, opened } = ask(({ method }, turn) => {
        if (method === "POST") return turn === 1 ? refusal(400) : eventStream(gemini.STREAMED);
        reads += 1;
        return Response.json({ ...file, state: reads < 3 ? "PROCESSING" : "ACTIVE" });
      });
      await expect(opened).resolves.toMatchObject({ sessionId: expect.any(String) });
      expect(fake.seen.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET", "POST"]);
    });
  } else {
    it("have the lifetime that the caller requests", async () => {
      const fake = answering(() => Response.json(file));
      await files().upload(fake.account, upload({ lifetime: () => 3600 }), neverAborted());
      const form = await fake.seen[0]?.form();
      expect(form?.get("expires_in_seconds") ?? form?.get("expires_after[seconds]")).toBe("3600");
    });
  }
});
