import { ADMINISTRATION } from "./admin/surface.ts";
import { API } from "./api/index.ts";
import { DIALECTS } from "./dialects/index.ts";
import { PAGES } from "./pages/surface.ts";
import { STANDARD_FAMILY } from "./routing/error-formats.ts";
import { type AnySurface, type LateSurface, loaded, type Surface } from "./routing/surface.ts";

/** What describes all the others. */
const DESCRIPTION: LateSurface = {
  tag: "Description",
  family: STANDARD_FAMILY,
  paths: [],
  otherPaths: ["/openapi.json"],
  load: async () => [(await import("./routing/openapi.ts")).openApi(wholeSurfaces)],
};

/** Everything that the program offers: its table of contents. What is asked most comes first. */
export const SURFACES: readonly AnySurface[] = [...DIALECTS, API, PAGES, ADMINISTRATION, DESCRIPTION];

/** The same with all that is loaded late. */
export function wholeSurfaces(): Promise<Surface[]> {
  return Promise.all(SURFACES.map(loaded));
}
