import { GatewayError, invalidRequest } from "../http/errors.ts";
import { checkPageUrl } from "../pages/url-safety/index.ts";
import type { Platform } from "../platform/platform.ts";

/** An attachment that is fetched for a caller is at most this many bytes. */
const MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

function refused(url: string, why: string): GatewayError {
  return invalidRequest(`the attachment ${JSON.stringify(url.slice(0, 200))} cannot be loaded: ${why}`);
}

async function readBounded(response: Response, url: string): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > MAX_ATTACHMENT_BYTES) {
      await reader.cancel();
      throw refused(url, `it is larger than ${MAX_ATTACHMENT_BYTES} bytes`);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/**
 * Fetches an attachment that a caller names by URL. The page service's URL rules hold for the URL and for every
 * redirect; size and time are bounded.
 *
 * @throws GatewayError 400 that says why the attachment cannot be loaded.
 */
export async function fetchAttachment(
  url: string,
  signal: AbortSignal,
  platform: Platform,
): Promise<{ bytes: Uint8Array; mediaType: string }> {
  let next = url;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const check = checkPageUrl(next, { privateHosts: platform.settings.pagePrivateHosts });
    if (!check.ok) throw refused(url, check.message);
    let response: Response;
    try {
      response = await platform.fetch(check.url.href, { redirect: "manual", signal: deadline });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new GatewayError(400, refused(url, "its server cannot be reached").message, {
        code: "invalid_request",
        cause: error,
      });
    }
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      next = new URL(location, check.url).href;
      continue;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw refused(url, `its server answered ${response.status}`);
    }
    const mediaType = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
    return { bytes: await readBounded(response, url), mediaType: mediaType || "application/octet-stream" };
  }
  throw refused(url, "it redirects too often");
}
