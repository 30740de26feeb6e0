import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject } from "../../src/core/encoding/json.ts";
import { serve } from "./local-server.ts";

/** A file that the backend stores. */
export interface BackendFile {
  readonly id: string;
  /** The API key that uploaded it. No other key sees it. */
  readonly key: string;
  readonly bytes: number;
  readonly filename: string;
  readonly mediaType: string;
  readonly purpose: string;
}

/** A generation that the backend received. */
export interface GenerationRequest {
  readonly path: string;
  readonly key: string;
  readonly beta: string;
  /** The JSON text of the body. */
  readonly body: string;
}

/**
 * A backend in this process that stores files and answers generations, in the protocols of all keyed drivers at once. A
 * generation that names a file which its key does not have is refused as the real services do.
 */
export interface FileBackend {
  /** The origin, without a path. */
  readonly url: string;
  /** Stored files by id. Tests delete some, as if they had expired. */
  readonly files: Map<string, BackendFile>;
  /** Received generations, oldest first. */
  readonly asked: GenerationRequest[];
  /** Status of every upload; null: they are accepted. */
  refuses: number | null;
  /** Bytes of request bodies that have arrived, also of unfinished ones. */
  received: number;
  close(): Promise<void>;
}

const CREATED = "2026-11-23T00:00:00Z";

/** Starts a backend on a free port. */
export async function startFileBackend(): Promise<FileBackend> {
  const backend = {
    files: new Map<string, BackendFile>(),
    asked: [] as GenerationRequest[],
    refuses: null,
    received: 0,
  };
  const running: Omit<FileBackend, "url" | "close"> = backend;
  const { origin, close } = await serve((request, response) => answer(request, response, running));
  return Object.assign(running, { url: origin, close });
}

type Running = Omit<FileBackend, "url" | "close">;
type Protocol = "bearer" | "messages" | "content";

function credentialOf({ headers }: IncomingMessage): { protocol: Protocol; key: string } {
  const apiKey = headers["x-api-key"];
  if (typeof apiKey === "string") return { protocol: "messages", key: apiKey };
  const goog = headers["x-goog-api-key"];
  if (typeof goog === "string") return { protocol: "content", key: goog };
  return { protocol: "bearer", key: headers.authorization?.replace(/^Bearer /, "") ?? "" };
}

async function answer(request: IncomingMessage, response: ServerResponse, backend: Running): Promise<void> {
  const { protocol, key } = credentialOf(request);
  const { method = "GET", headers } = request;
  const path = new URL(request.url ?? "/", "http://backend.test").pathname;
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk);
    backend.received += chunk.length;
  }
  const body = Buffer.concat(chunks);
  const json = (status: number, value: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  const missing = (id: string) => {
    if (protocol !== "content") return json(404, { error: { message: `No such file: ${id}` } });
    const message = `You do not have permission to access the File ${id} or it may not exist.`;
    return json(403, { error: { code: 403, message, status: "PERMISSION_DENIED" } });
  };
  const isFiles = /^(?:\/upload)?\/v1(?:beta)?\/files(?:\/|$)/.test(path);
  const beta = String(headers["anthropic-beta"] ?? "");
  if (protocol === "messages" && isFiles && !beta.includes("files-api-2025-04-14")) return missing("x");
  if (method === "POST" && isFiles) {
    if (backend.refuses !== null) return json(backend.refuses, { error: { message: "Not Found" } });
    const file = await storedFrom(body, headers["content-type"] ?? "", key, backend.files.size);
    backend.files.set(file.id, file);
    return json(
      200,
      protocol === "content" ? { file: describeFile(file, protocol) } : describeFile(file, protocol),
    );
  }
  if (isFiles) {
    const id = path.split("/files/")[1]?.split("/")[0] ?? "";
    const file = backend.files.get(id);
    if (file === undefined || file.key !== key) return missing(id);
    if (path.endsWith("/content")) {
      response.writeHead(200, { "content-type": "text/html" }).end("<p>content</p>");
      return;
    }
    if (method === "DELETE") backend.files.delete(id);
    return json(200, describeFile(file, protocol));
  }
  if (method === "GET") return json(200, protocol === "content" ? { models: [] } : { data: [] });
  const text = body.toString();
  backend.asked.push({ path, key, beta, body: text });
  const named = [...text.matchAll(/"(?:file_id|fileUri)":"(?:[^"]*\/)?([^"/]+)"/g)].map(([, id = ""]) => id);
  const lost = named.find((id) => backend.files.get(id)?.key !== key);
  return lost === undefined ? json(200, answerOf(path)) : missing(lost);
}

/** Reads the file in a multipart body. */
async function storedFrom(
  body: Buffer<ArrayBuffer>,
  contentType: string,
  key: string,
  count: number,
): Promise<BackendFile> {
  const id = `backend-file-${count + 1}-${crypto.randomUUID().slice(0, 8)}`;
  if (contentType.startsWith("multipart/related")) {
    const [, boundary = ""] = /boundary=(.+)$/.exec(contentType) ?? [];
    const [, metadata = "", file = ""] = body.toString("latin1").split(`--${boundary}`);
    const [head = "", ...content] = file.split("\r\n\r\n");
    const described: unknown = JSON.parse(metadata.slice(metadata.indexOf("{")));
    const filename =
      isObject(described) && isObject(described["file"]) ? described["file"]["displayName"] : "";
    const mediaType = /Content-Type: (.+)/.exec(head)?.[1]?.trim() ?? "";
    const bytes = content.join("\r\n\r\n").length - 2;
    return { id, key, bytes, filename: String(filename), mediaType, purpose: "" };
  }
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  const file = form.get("file");
  if (!(file instanceof File)) throw new Error("the form has no file");
  const { name: filename, size: bytes, type: mediaType } = file;
  return { id, key, bytes, filename, mediaType, purpose: String(form.get("purpose") ?? "") };
}

function describeFile({ id, bytes, filename, mediaType, purpose }: BackendFile, protocol: Protocol): object {
  const seconds = Date.parse(CREATED) / 1000;
  if (protocol === "bearer") {
    return { id, object: "file", bytes, filename, purpose, created_at: seconds, status: "processed" };
  }
  if (protocol === "messages") {
    return { id, type: "file", size_bytes: bytes, filename, mime_type: mediaType, created_at: CREATED };
  }
  return {
    name: `files/${id}`,
    displayName: filename,
    mimeType: mediaType,
    sizeBytes: String(bytes),
    createTime: CREATED,
    expirationTime: new Date(Date.now() + 172_800_000).toISOString(),
    uri: `https://files.backend.example/v1beta/files/${id}`,
    state: "ACTIVE",
  };
}

function answerOf(path: string): object {
  if (path.endsWith("/messages")) {
    const usage = { input_tokens: 3, output_tokens: 2 };
    return { id: "m1", content: [{ type: "text", text: "Read." }], stop_reason: "end_turn", usage };
  }
  if (path.endsWith("/responses")) {
    const output = [{ type: "message", content: [{ type: "output_text", text: "Read." }] }];
    return { id: "r1", status: "completed", output };
  }
  if (path.endsWith("Content")) {
    return { candidates: [{ content: { parts: [{ text: "Read." }] }, finishReason: "STOP" }] };
  }
  return { id: "c1", choices: [{ index: 0, message: { content: "Read." }, finish_reason: "stop" }] };
}
