import * as z from "zod/mini";
import { ApiError, call, errorMessage } from "./client.ts";
import { nullableText, text } from "./fields.ts";

const applications = z.array(
  z.object({
    name: text,
    confidence: text,
    version: text,
    website: text,
    categories: z._default(z.array(z.string()), []),
  }),
);

const technologies = z.object({ url: text, originalUrl: text, applications });

/** Technologies that a page uses. */
export type Technologies = z.output<typeof technologies>;

const metadata = z.object({
  url: text,
  title: nullableText,
  description: nullableText,
  canonical: nullableText,
  language: nullableText,
  openGraph: z._default(z.record(z.string(), z.string()), {}),
  icons: z._default(z.array(z.object({ url: text, rel: text, type: nullableText, sizes: nullableText })), []),
  feeds: z._default(z.array(z.object({ url: text, type: text, title: nullableText })), []),
  applications: z.optional(applications),
});

/** Metadata of a page; null where the page has none. `applications` is present if technologies were requested. */
export type Metadata = z.output<typeof metadata>;

async function get(path: string): Promise<Response> {
  const response = await fetch(path).catch(() => null);
  if (response === null) throw new ApiError(0, "The gateway cannot be reached.");
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  throw new ApiError(response.status, errorMessage(body, response.status));
}

/** A screenshot, with values of the response headers. */
export interface Shot {
  readonly image: Blob;
  readonly cache: string;
}

export async function takeShot(path: string): Promise<Shot> {
  const response = await get(path);
  return { image: await response.blob(), cache: response.headers.get("x-cache") ?? "" };
}

export async function detectTechnologies(url: string): Promise<Technologies> {
  const response = await get(`/v1/technologies?${new URLSearchParams({ url })}`);
  const parsed = technologies.safeParse(await response.json());
  if (!parsed.success) throw new ApiError(response.status, "The gateway gave no list of technologies.");
  return parsed.data;
}

/** Reads a page's metadata. `withTechnologies`: also detects its technologies, in the same page load. */
export async function readMetadata(url: string, withTechnologies: boolean): Promise<Metadata> {
  const query = new URLSearchParams({ url, ...(withTechnologies && { technologies: "true" }) });
  const response = await get(`/v1/metadata?${query}`);
  const parsed = metadata.safeParse(await response.json());
  if (!parsed.success) throw new ApiError(response.status, "The gateway gave no metadata.");
  return parsed.data;
}

const signed = z.object({ url: z.string(), expires: z.number() });

/** A signed URL that does not contain the key that it charges. `expires` is in Unix seconds. */
export type SignedLink = z.output<typeof signed>;

/** Signs a link that charges a key. `query`: the parameters of the operation; `expiresIn`: seconds. */
export const signLink = (
  operation: "thumbs" | "technologies",
  query: Readonly<Record<string, string>>,
  key: string,
  expiresIn: number,
) =>
  call(signed, "/admin/page-links", {
    method: "POST",
    body: { operation, query, key, expires_in: expiresIn },
  });
