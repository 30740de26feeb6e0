import { toHex } from "../../core/encoding/bytes.ts";
import { sha256 } from "../../core/encoding/hash.ts";

/** Media types of the files that the console's build creates. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webp: "image/webp",
  woff2: "font/woff2",
};

/** Segments that start with a letter, digit, `_` or `-`: no hidden files, and no path that leaves the folder. */
const PLAIN_PATH = /^(?:\/[\w-][\w.-]*)+$/;

/** Bytes per chunk of a response body. */
const CHUNK_BYTES = 64 * 1024;

interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

/** Serves the files of a folder. Each file is read once and stays in memory: files do not change while the program runs. */
export class AssetFolder {
  readonly #folder: string;
  readonly #cache = new Map<string, Asset>();

  /** `folder` has no trailing slash. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The file at the request's path, or 304 when the client has it already (RFC 9110, 13.1.2). Null: there is no such file.
   */
  async get(request: Request): Promise<Response | null> {
    const { pathname } = new URL(request.url);
    const asset = await this.#asset(pathname);
    if (asset === null) return null;
    const { body, type, etag } = asset;
    const known = request.headers.get("if-none-match")?.split(",") ?? [];
    if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag)) {
      return new Response(null, { status: 304, headers: { etag } });
    }
    const headers = { "content-type": type, "content-length": String(body.byteLength), etag };
    return new Response(request.method === "HEAD" ? null : streamInChunks(body), { headers });
  }

  async #asset(path: string): Promise<Asset | null> {
    if (!PLAIN_PATH.test(path)) return null;
    const cached = this.#cache.get(path);
    if (cached !== undefined) return cached;
    const body = await Deno.readFile(this.#folder + path).catch(() => null);
    if (body === null) return null;
    const hash = await sha256(body);
    const extension = path.slice(path.lastIndexOf(".") + 1);
    const asset = {
      body,
      type: MEDIA_TYPES[extension] ?? "application/octet-stream",
      etag: `"${toHex(hash.subarray(0, 16))}"`,
    };
    this.#cache.set(path, asset);
    return asset;
  }
}

/** Streams a body: the runtime copies one chunk when the client reads it, not the whole body for each client. */
function streamInChunks(body: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at < body.byteLength) controller.enqueue(body.subarray(at, at + CHUNK_BYTES));
        at += CHUNK_BYTES;
        if (at >= body.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
