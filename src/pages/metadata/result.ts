import * as z from "zod";
import { technologiesSchema } from "../technologies/answers.ts";

/** JSON schema of what a page says of itself. Addresses are absolute. */
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
    /** Open Graph properties without `og:`, of each the first. */
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
    /** When `technologies` is asked for. */
    applications: technologiesSchema().shape.applications.optional(),
  });

/** The body of a metadata lookup. */
export type MetadataResult = z.output<ReturnType<typeof metadataSchema>>;

/** What a page says of itself. */
export type PageMetadata = Omit<MetadataResult, "url" | "originalUrl" | "applications">;
