import type { GeoLocation } from "../../core/config/regions.ts";

let isolatePlace: GeoLocation | null = null;

/** The location of this isolate, read from its first request. An isolate serves one data centre, so all requests agree. */
export function getIsolatePlace(): GeoLocation {
  return isolatePlace ?? { continent: "", longitude: Number.NaN };
}

/** Notes the location. With several shards, call it for each request. */
export function recordIsolatePlace(request: { readonly cf?: unknown }): void {
  // The runtime may parse `cf` at each read, so read it once.
  if (isolatePlace !== null) return;
  const { cf } = request;
  if (typeof cf !== "object" || cf === null) return;
  const continent = "continent" in cf ? cf.continent : "";
  const longitude = "longitude" in cf ? cf.longitude : "";
  isolatePlace = {
    continent: typeof continent === "string" ? continent : "",
    longitude: typeof longitude === "string" ? Number.parseFloat(longitude) : Number.NaN,
  };
}
