/**
 * Regions of requests and pools, by Cloudflare's names, with their share of the requests and the location that the runtime
 * reports.
 */
export const REGIONS = [
  { name: "enam", share: 0.28, place: { continent: "NA", longitude: -77 } },
  { name: "wnam", share: 0.14, place: { continent: "NA", longitude: -121 } },
  { name: "sam", share: 0.08, place: { continent: "SA", longitude: -47 } },
  { name: "weur", share: 0.27, place: { continent: "EU", longitude: 9 } },
  { name: "apac", share: 0.18, place: { continent: "AS", longitude: 104 } },
  { name: "oc", share: 0.05, place: { continent: "OC", longitude: 151 } },
] as const;

/**
 * Round trips in milliseconds, as published for data centers in North Virginia, Oregon, São Paulo, Frankfurt, Singapore and
 * Sydney ("Latency Between AWS Global Regions", 2017; some routes have become shorter since). Within a region: an
 * assumption.
 */
const ROUND_TRIPS: readonly (readonly number[])[] = [
  [10, 88, 120, 89, 217, 230],
  [88, 10, 183, 160, 161, 162],
  [120, 183, 10, 195, 328, 323],
  [89, 160, 195, 10, 326, 323],
  [217, 161, 328, 326, 10, 175],
  [230, 162, 323, 323, 175, 10],
];

/** Round trip between two regions in milliseconds, by index. */
export const roundTrip = (from: number, to: number): number => ROUND_TRIPS[from]?.[to] ?? 0;

/** Index of a region by name. */
export const regionOf = (name: string): number => REGIONS.findIndex((region) => region.name === name);
