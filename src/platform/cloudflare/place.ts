import type { Place } from "../regions.ts";

let noticed: Place | null = null;

/** Where this isolate is, as far as its first request has told: all of its requests come to one data centre. */
export function placeOfIsolate(): Place {
  return noticed ?? { continent: "", longitude: Number.NaN };
}

/** To be told of each request where there are several pools. */
export function noticePlace(request: { readonly cf?: unknown }): void {
  // What tells it may be parsed whenever it is read.
  if (noticed !== null) return;
  const { cf } = request;
  if (typeof cf !== "object" || cf === null) return;
  const continent = "continent" in cf ? cf.continent : "";
  const longitude = "longitude" in cf ? cf.longitude : "";
  noticed = {
    continent: typeof continent === "string" ? continent : "",
    longitude: typeof longitude === "string" ? Number.parseFloat(longitude) : Number.NaN,
  };
}
