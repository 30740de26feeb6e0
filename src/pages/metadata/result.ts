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
    canonical: z.string().nullable(),
    /** A language tag as the page writes it. */
    language: z.string().nullable(),
    /** Open Graph properties without `og:`; the first of each. */
    openGraph: z.record(z.string(), z.string()),
    icons: z.array(
      z.object({
        url: z.string(),
        rel: z.string(),
        type: z.string().nullable(),
        sizes: z.string().nullable(),
      }),
    ),
    feeds: z.array(z.object({ url: z.string(), type: z.string(), title: z.string().nullable() })),
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
