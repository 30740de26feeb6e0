/** Location hints of Cloudflare for Durable Objects (developers.cloudflare.com, Durable Objects, Data location). */
export const REGIONS = [
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "apac",
  "apac-ne",
  "apac-se",
  "oc",
  "afr",
  "me",
] as const;
export type Region = (typeof REGIONS)[number];

/** Origin of a request, as the runtime reports it. */
export interface GeoLocation {
  /** Two letters, such as `EU`; empty if unknown. */
  readonly continent: string;
  /** Degrees, east positive; NaN if unknown. */
  readonly longitude: number;
}
