/** Where an object can be asked to run: the location hints of Cloudflare (developers.cloudflare.com, Durable Objects, Data location). */
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

/** Where requests come from, as the runtime tells. */
export interface Place {
  /** Two letters, such as `EU`; empty: not known. */
  readonly continent: string;
  /** Degrees, east positive; NaN: not known. */
  readonly longitude: number;
}
