import * as z from "zod/mini";
import { ApiError, call, errorMessage } from "./client.ts";
import { text } from "./fields.ts";

const technologies = z.object({
  url: text,
  originalUrl: text,
  applications: z.array(
    z.object({
      name: text,
      confidence: text,
      version: text,
      website: text,
      categories: z._default(z.array(z.string()), []),
    }),
  ),
});

/** What a page is built with. */
export type Technologies = z.output<typeof technologies>;

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
