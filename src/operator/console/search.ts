import { listAccounts } from "./api/accounts.ts";
import { readGuardrails } from "./api/guardrails.ts";
import { listHistory } from "./api/history.ts";
import { findKeys } from "./api/keys.ts";
import { listModels } from "./api/models.ts";
import { formatHref } from "./routing.ts";
import { texts } from "./texts.ts";

/** A search result and its URL. */
export interface SearchResult {
  readonly kind: "page" | "account" | "key" | "model" | "guardrail" | "record";
  readonly name: string;
  /** Distinguishes results with the same name. */
  readonly below: string;
  readonly address: string;
}

/** Maximum number of results per kind. */
const MAX_PER_KIND = 5;

const query = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();

async function accounts(text: string, signal: AbortSignal): Promise<SearchResult[]> {
  const filter = { q: text, health: "", proxy: null, provider: null, sort: "" };
  const { items } = await listAccounts(filter, 1, MAX_PER_KIND, signal);
  return items.map(({ identifier, name }) => ({
    kind: "account",
    name: name || identifier,
    below: name === "" ? "" : identifier,
    address: formatHref("accounts", "", query({ q: identifier })),
  }));
}

async function keys(text: string, signal: AbortSignal): Promise<SearchResult[]> {
  const { items } = await findKeys(text, MAX_PER_KIND, signal);
  return items.map(({ id, name, remark }) => ({
    kind: "key",
    name: name || id,
    below: remark,
    address: formatHref("history", "", query({ key: id })),
  }));
}

async function models(text: string, signal: AbortSignal): Promise<SearchResult[]> {
  const needle = text.toLowerCase();
  const ids = (await listModels(signal)).filter((id) => id.toLowerCase().includes(needle));
  return ids.slice(0, MAX_PER_KIND).map((id) => ({
    kind: "model",
    name: id,
    below: "",
    address: formatHref("history", "", query({ model: id })),
  }));
}

async function guardrails(text: string, signal: AbortSignal): Promise<SearchResult[]> {
  const needle = text.toLowerCase();
  const { rules } = await readGuardrails(signal);
  return rules
    .filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(needle))
    .slice(0, MAX_PER_KIND)
    .map(({ id, name }) => ({
      kind: "guardrail",
      name: name || id,
      below: name === "" ? "" : id,
      address: formatHref("guardrails", id),
    }));
}

async function records(text: string, signal: AbortSignal): Promise<SearchResult[]> {
  const { items } = await listHistory(new URLSearchParams({ q: text }), 1, MAX_PER_KIND, signal);
  return items.map(({ id, request_preview, model, status, status_code }) => ({
    kind: "record",
    name: request_preview || id,
    below: `${model}, ${status === "error" ? texts.error(status_code) : status}`,
    address: formatHref("history", id),
  }));
}

/** Searches names for a text, in display order. Omits kinds that fail to load. */
export async function searchEverything(
  text: string,
  pages: readonly SearchResult[],
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const needle = text.toLowerCase();
  const matchingPages = pages.filter(({ name }) => name.toLowerCase().includes(needle));
  if (text === "") return [...matchingPages];
  const results = await Promise.all(
    [accounts, keys, models, guardrails, records].map((search) =>
      search(text, signal).catch((): SearchResult[] => []),
    ),
  );
  return [...matchingPages, ...results.flat()];
}
