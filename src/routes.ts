import { ADMINISTRATION } from "./admin/surface.ts";
import { API } from "./api/index.ts";
import { DIALECTS } from "./dialects/index.ts";
import { PAGES } from "./pages/surface.ts";
import { STANDARD_FAMILY } from "./routing/error-formats.ts";
import { type AnySurface, type LateSurface, loaded, type Surface } from "./routing/surface.ts";

/** The group with the OpenAPI document. */
const DESCRIPTION: LateSurface = {
  tag: "Description",
  family: STANDARD_FAMILY,
  paths: [],
  otherPaths: ["/openapi.json"],
  load: async () => [(await import("./routing/openapi.ts")).openApi(wholeSurfaces)],
};

/** All route groups of the program. The most frequently used ones come first. */
export const SURFACES: readonly AnySurface[] = [...DIALECTS, API, PAGES, ADMINISTRATION, DESCRIPTION];

/** All route groups, with the lazy ones loaded. */
export function wholeSurfaces(): Promise<Surface[]> {
  return Promise.all(SURFACES.map(loaded));
}
