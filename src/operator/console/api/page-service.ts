import * as z from "zod/mini";
import { words } from "../ui/words.ts";
import { ApiError, callApi, errorMessage } from "./client.ts";
import { nullableTextField, textField } from "./fields.ts";

const applications = z.array(
  z.object({
    name: textField,
    confidence: textField,
    version: textField,
    website: textField,
    categories: z._default(z.array(z.string()), []),
  }),
);

const technologies = z.object({ url: textField, originalUrl: textField, applications });

/** Technologies that a page uses. */
export type Technologies = z.output<typeof technologies>;

const metadata = z.object({
  url: textField,
  title: nullableTextField,
  description: nullableTextField,
  author: nullableTextField,
  publisher: nullableTextField,
  date: nullableTextField,
  image: nullableTextField,
  canonical: nullableTextField,
  language: nullableTextField,
  openGraph: z._default(z.record(z.string(), z.string()), {}),
  icons: z._default(
    z.array(z.object({ url: textField, rel: textField, type: nullableTextField, sizes: nullableTextField })),
    [],
  ),
  feeds: z._default(z.array(z.object({ url: textField, type: textField, title: nullableTextField })), []),
  applications: z.optional(applications),
});

/** Metadata of a page; null where the page has none. `applications` is present if technologies were requested. */
export type Metadata = z.output<typeof metadata>;

async function getResponse(path: string): Promise<Response> {
  const response = await fetch(path).catch(() => null);
  if (response === null) throw new ApiError(0, words.gatewayCannotBeReached);
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
  const parsed = technologies.safeParse(await response.json());
  if (!parsed.success) throw new ApiError(response.status, words.gatewayGaveNoListTechnologies);
  return parsed.data;
}

/** Reads a page's metadata. `withTechnologies`: also detects its technologies, in the same page load. */
export async function readMetadata(url: string, withTechnologies: boolean): Promise<Metadata> {
  const query = new URLSearchParams({ url, ...(withTechnologies && { technologies: "true" }) });
  const response = await getResponse(`/v1/metadata?${query}`);
  const parsed = metadata.safeParse(await response.json());
  if (!parsed.success) throw new ApiError(response.status, words.gatewayGaveNoMetadata);
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
  callApi(signed, "/admin/page-links", {
    method: "POST",
    body: { operation, query, key, expires_in: expiresIn },
  });
