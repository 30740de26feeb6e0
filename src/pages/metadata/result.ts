import * as z from "zod";
import { incompleteSchema } from "../http/query-schemas.ts";
import { technologiesSchema } from "../technologies/result-schema.ts";

/** JSON schema of a page's metadata. Addresses are absolute. */
export const metadataSchema = () =>
  z.object({
    /** The final URL, after redirects. */
    url: z.string(),
    /** The URL as requested, with the scheme completed. */
    originalUrl: z.string(),
    title: z.string().nullable(),
    description: z.string().nullable(),
    author: z.string().nullable(),
    publisher: z.string().nullable(),
    /** ISO 8601; a day alone if the page gives no full timestamp. `date` is the latest of what the page says. */
    date: z.string().nullable(),
    datePublished: z.string().nullable(),
    dateModified: z.string().nullable(),
    logo: z.string().nullable(),
    /** The picture that stands for the page. */
    image: z.string().nullable(),
    canonical: z.string().nullable(),
    /** A language tag as the page writes it. */
    language: z.string().nullable(),
    /** The language of the visible text (ISO 639-1); null if it is not known. */
    textLanguage: z.string().nullable(),
    /** Words of the visible text. */
    wordCount: z.int(),
    keywords: z.array(z.string()),
    robots: z.string().nullable(),
    generator: z.string().nullable(),
    /** Open Graph properties without `og:`; the first of each. */
    openGraph: z.record(z.string(), z.string()),
    /** Properties of Twitter cards without `twitter:`; the first of each. */
    twitter: z.record(z.string(), z.string()),
    /** The images of Open Graph, with their sizes in pixels. */
    images: z.array(
      z.object({
        url: z.string(),
        width: z.int().nullable(),
        height: z.int().nullable(),
        type: z.string().nullable(),
        alt: z.string().nullable(),
      }),
    ),
    /** The icon of the browser's tab. */
    favicon: z.string().nullable(),
    icons: z.array(
      z.object({
        url: z.string(),
        rel: z.string(),
        type: z.string().nullable(),
        sizes: z.string().nullable(),
      }),
    ),
    feeds: z.array(z.object({ url: z.string(), type: z.string(), title: z.string().nullable() })),
    /** The objects of JSON-LD scripts; graphs are expanded. */
    jsonLd: z.array(z.record(z.string(), z.unknown())),
    ...incompleteSchema(),
    /** Present if `technologies` was requested. */
    applications: technologiesSchema().shape.applications.optional(),
  });

/** The body of a metadata lookup. */
export type MetadataResult = z.output<ReturnType<typeof metadataSchema>>;

/** The metadata of a page. */
export type PageMetadata = Omit<
  MetadataResult,
  "url" | "originalUrl" | "applications" | "incomplete" | "incompleteReason"
>;
