import { ApiError, callApi, errorMessage } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";
import { texts } from "./texts.ts";

interface Application {
  readonly name: string;
  readonly confidence: string;
  readonly version: string;
  readonly website: string;
  readonly categories: readonly string[];
}

/** Technologies that a page uses. */
export interface Technologies {
  readonly url: string;
  readonly originalUrl: string;
  readonly applications: readonly Application[];
}

/** Metadata of a page; null where the page has none. `applications` is present if technologies were requested. */
export interface Metadata {
  readonly url: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly author: string | null;
  readonly publisher: string | null;
  readonly date: string | null;
  readonly image: string | null;
  readonly canonical: string | null;
  readonly language: string | null;
  readonly openGraph: Readonly<Record<string, string>>;
  readonly icons: readonly {
    readonly url: string;
    readonly rel: string;
    readonly type: string | null;
    readonly sizes: string | null;
  }[];
  readonly feeds: readonly { readonly url: string; readonly type: string; readonly title: string | null }[];
  readonly applications?: readonly Application[];
}

async function getResponse(path: string): Promise<Response> {
  const response = await fetch(path).catch(() => null);
  if (response === null) throw new ApiError(0, texts.gatewayCannotBeReached);
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  throw new ApiError(response.status, errorMessage(body, response.status));
}

/** A screenshot, with values of the response headers. */
export interface Screenshot {
  readonly image: Blob;
  readonly cache: string;
}

export async function takeScreenshot(path: string): Promise<Screenshot> {
  const response = await getResponse(path);
  return { image: await response.blob(), cache: response.headers.get("x-cache") ?? "" };
}

export async function detectTechnologies(url: string): Promise<Technologies> {
  const response = await getResponse(`/v1/technologies?${new URLSearchParams({ url })}`);
  return await response.json();
}

/** Reads a page's metadata. `withTechnologies`: also detects its technologies, in the same page load. */
export async function readMetadata(url: string, withTechnologies: boolean): Promise<Metadata> {
  const query = new URLSearchParams({ url, ...(withTechnologies && { technologies: "true" }) });
  const response = await getResponse(`/v1/metadata?${query}`);
  return await response.json();
}

/** A signed URL that does not contain the key that it charges. `expires` is in Unix seconds. */
export type SignedLink = AnswerOf<"POST /admin/page-links">;

/** Signs a link that charges a key. `query`: the parameters of the operation; `expiresIn`: seconds. */
export const signLink = (
  operation: "thumbs" | "technologies",
  query: Readonly<Record<string, string>>,
  key: string,
  expiresIn: number,
) => callApi("POST /admin/page-links", { body: { operation, query, key, expires_in: expiresIn } });
