import type { GeoLocation, Region } from "../../core/config/regions.ts";

/**
 * The center of each region that an object can run in: degrees, east positive. Approximate: it only serves to sort the
 * regions by distance.
 */
const CENTERS: Readonly<Record<Region, readonly [latitude: number, longitude: number]>> = {
  wnam: [40, -119],
  enam: [40, -78],
  sam: [-23, -47],
  weur: [50, 4],
  eeur: [51, 21],
  apac: [15, 112],
  "apac-ne": [36, 138],
  "apac-se": [2, 104],
  oc: [-34, 150],
  afr: [-20, 28],
  me: [26, 52],
};

/** The center of each continent's traffic: its latitude, and the longitude for when the client's is unknown. */
const CONTINENTS: Readonly<Record<string, readonly [latitude: number, longitude: number]>> = {
  AF: [-5, 20],
  AN: [-60, 0],
  AS: [25, 105],
  EU: [50, 10],
  NA: [40, -90],
  OC: [-34, 148],
  SA: [-20, -52],
};

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Distance from a place to a region, in radians on the globe. 0 for all regions when the place is unknown. */
export function distanceFrom({ continent, longitude }: GeoLocation): (region: string) => number {
  const origin = CONTINENTS[continent];
  if (origin === undefined) return () => 0;
  const [latitude, defaultLongitude] = origin;
  const [phi, lambda] = [
    radians(latitude),
    radians(Number.isFinite(longitude) ? longitude : defaultLongitude),
  ];
  const centers = new Map<string, readonly [number, number]>(Object.entries(CENTERS));
  return (region) => {
    const center = centers.get(region);
    if (center === undefined) return 0;
    const [phi2, lambda2] = [radians(center[0]), radians(center[1])];
    const cosine =
      Math.sin(phi) * Math.sin(phi2) + Math.cos(phi) * Math.cos(phi2) * Math.cos(lambda - lambda2);
    return Math.acos(Math.min(1, Math.max(-1, cosine)));
  };
}
