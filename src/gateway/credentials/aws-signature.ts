import { AwsV4Signer } from "aws4fetch";
import { parseObject } from "../../core/encoding/json.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";

/** The longest body that is signed, bytes: the signature covers all of it, so it must be in memory. */
const MAX_SIGNED_BYTES = 32 * 1024 * 1024;

/**
 * Signs a request with AWS Signature Version 4, its whole body included.
 *
 * @param keys the token of the pool, see `readCredentials` in `src/pool/configuration.ts`
 * @throws GatewayError 413 for a body that is too long
 */
export async function signAwsRequest(
  keys: string,
  url: string,
  init: RequestInit | undefined,
): Promise<RequestInit> {
  const settings = parseObject(keys);
  const setting = (name: string): string => {
    const value = settings[name];
    return typeof value === "string" ? value : "";
  };
  const sessionToken = setting("session_token");
  const headers = new Headers(init?.headers);
  const body = await readBody(init?.body ?? null, headers);
  // Only the headers that are needed are signed. Others may still be added.
  const signer = new AwsV4Signer({
    url,
    method: init?.method ?? "GET",
    ...(body === null ? {} : { body }),
    accessKeyId: setting("access_key_id"),
    secretAccessKey: setting("secret_access_key"),
    region: setting("region"),
    service: setting("service"),
    ...(sessionToken === "" ? {} : { sessionToken }),
  });
  const signed = await signer.sign();
  for (const [name, value] of signed.headers) headers.set(name, value);
  // The runtime sets this header itself.
  headers.delete("host");
  return { ...init, headers, body };
}

/** Reads a body that is no text into memory. Sets the media type that follows from a form. */
async function readBody(body: BodyInit | null, headers: Headers): Promise<string | ArrayBuffer | null> {
  if (body === null || typeof body === "string") return body;
  const response = new Response(body);
  const mediaType = response.headers.get("content-type");
  if (mediaType !== null && !headers.has("content-type")) headers.set("content-type", mediaType);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_SIGNED_BYTES) {
      throw new GatewayError(413, "a request that is signed may have at most 32 MiB", {
        code: "request_too_large",
      });
    }
    pieces.push(piece);
  }
  return new Blob(pieces).arrayBuffer();
}
