import { type IncompleteMembers, incompleteMembers } from "../answers/page-headers.ts";
import type { DetectedTechnology } from "./detector.ts";

/** The body of a technology lookup (docs/page-contract.md, Technologies result). */
export type TechnologiesResult = IncompleteMembers & {
  /** The final URL, after redirects. */
  readonly url: string;
  /** The URL as requested, with the scheme completed. */
  readonly originalUrl: string;
  readonly applications: readonly DetectedTechnology[];
};

/** Converts a lookup to the form of the contract. */
export function toTechnologiesResult(lookup: {
  readonly finalUrl: string;
  readonly requestedUrl: string;
  readonly incomplete: string | null;
  readonly technologies: readonly DetectedTechnology[];
}): TechnologiesResult {
  return {
    url: lookup.finalUrl,
    originalUrl: lookup.requestedUrl,
    applications: lookup.technologies,
    ...incompleteMembers(lookup.incomplete),
  };
}
