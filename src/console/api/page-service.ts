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

/** What a page is built with. */
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

/** What a page says of itself; what it does not say is null. `applications`: when they were asked for, too. */
export type Metadata = z.output<typeof metadata>;

async function get(path: string): Promise<Response> {
  const response = await fetch(path).catch(() => null);
  if (response === null) throw new ApiError(0, "The gateway cannot be reached.");
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  throw new ApiError(response.status, errorMessage(body, response.status));
}

/** An image of a page, and what its headers tell. */
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

/** `withTechnologies`: what the page is built with is told, too, from the same load. */
export async function readMetadata(url: string, withTechnologies: boolean): Promise<Metadata> {
  const query = new URLSearchParams({ url, ...(withTechnologies && { technologies: "true" }) });
  const response = await get(`/v1/metadata?${query}`);
  const parsed = metadata.safeParse(await response.json());
  if (!parsed.success) throw new ApiError(response.status, "The gateway gave no metadata.");
  return parsed.data;
}

const signed = z.object({ url: z.string(), expires: z.number() });

/** An address that works without showing the key that it counts for; `expires` is in Unix seconds. */
export type SignedLink = z.output<typeof signed>;

/** Signs a link on a key's account. `query`: the parameters of the operation; `expiresIn`: seconds. */
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
