import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A request as a server received it. `target` is the path with the query. */
export interface SignedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z\d;-]+), ?Signature=([\da-f]{64})$/;

const sha256 = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
const hmac = (key: Buffer | string, text: string) => createHmac("sha256", key).update(text).digest();

/** RFC 3986: all but unreserved characters are escaped. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * Recomputes AWS Signature Version 4 from AWS's description of it. Returns why a request is refused; empty: it is accepted.
 */
export function findSignatureFault({ method, target, headers, body }: SignedRequest, keys: AwsKeys): string {
  const [, keyId, day, region, service, names = "", signature = ""] =
    AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  if (keyId !== keys.accessKeyId || region !== keys.region || service !== keys.service) return "another key";
  const time = String(headers["x-amz-date"] ?? "");
  const sentAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!time.startsWith(day ?? "-") || !(Math.abs(Date.now() - sentAt) < 300_000)) return "another time";
  const signed = names.split(";");
  if (!signed.includes("host") || !signed.includes("x-amz-date")) return "headers are not signed";
  if (headers["x-amz-security-token"] !== undefined && !signed.includes("x-amz-security-token"))
    return "the session is not signed";
  const { pathname, searchParams } = new URL(target, "http://host.test");
  const canonicalRequest = [
    method,
    // Each segment is escaped a second time (all services but S3).
    pathname.split("/").map(encode).join("/"),
    [...searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join("&"),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
    "",
    names,
    sha256(body),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonicalRequest)].join("\n");
  const key = [region, service, "aws4_request"].reduce(
    (previous, part) => hmac(previous, part ?? ""),
    hmac(`AWS4${keys.secretAccessKey}`, day ?? ""),
  );
  const expected = hmac(key, text).toString("hex");
  return timingSafeEqual(Buffer.from(expected), Buffer.from(signature)) ? "" : "the signature does not match";
}
