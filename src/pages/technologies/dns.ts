import { isObject } from "../../core/encoding/json.ts";
import type { NamedTexts } from "../../core/ports/page-browser.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { isListedPrivateHost } from "../../core/url-safety/hosts.ts";

const RECORD_TYPES = ["MX", "NS", "SOA", "TXT", "CNAME"] as const;
/** DNS records are only hints; they are not worth a longer wait. */
const TIMEOUT_MS = 1_500;

/** The values of a DNS answer. Throws for an invalid answer. */
function parseRecordValues(answer: unknown): string[] {
  if (!isObject(answer)) throw new Error("not an answer");
  const records = answer["Answer"] ?? [];
  if (!Array.isArray(records)) throw new Error("not a list of records");
  return records.map((record: unknown) => {
    if (!isObject(record) || typeof record["data"] !== "string") throw new Error("not a record");
    return record["data"];
  });
}

/**
 * Looks up the DNS records of a page's domain over HTTPS (RFC 8484, JSON form). Omits records that cannot be loaded.
 * The variable `DNS_OVER_HTTPS_URL` sets another resolver, or `off`.
 */
export async function lookUpDns(
  { variables, fetch }: Pick<Platform, "variables" | "fetch">,
  page: URL,
): Promise<NamedTexts> {
  const { dnsResolver, pages } = variables;
  const isName = /[a-z]/i.test(page.hostname) && !page.hostname.startsWith("[");
  if (dnsResolver === null || !isName || isListedPrivateHost(page, pages.privateHosts)) return {};
  const name = page.hostname.replace(/^www\./, "");
  const records = await Promise.all(
    RECORD_TYPES.map(async (type): Promise<[string, string[]]> => {
      try {
        const response = await fetch(`${dnsResolver}?${new URLSearchParams({ name, type })}`, {
          headers: { accept: "application/dns-json" },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        return [type, parseRecordValues(await response.json())];
      } catch {
        return [type, []];
      }
    }),
  );
  return Object.fromEntries(records.filter(([, values]) => values.length > 0));
}
