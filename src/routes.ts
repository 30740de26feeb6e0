import { ADMINISTRATION } from "./admin/index.ts";
import { API } from "./api/index.ts";
import { DIALECTS } from "./dialects/index.ts";
import { PAGES } from "./pages/index.ts";
import { STANDARD_FAMILY } from "./routing/error-formats.ts";
import { openApi } from "./routing/openapi.ts";
import { type Route, routesOf, type Surface } from "./routing/surface.ts";

/** What describes all the others. */
const DESCRIPTION: Surface = {
  tag: "Description",
  family: STANDARD_FAMILY,
  paths: [],
  endpoints: [openApi(() => SURFACES)],
};

/** Everything that the program offers: its table of contents. What is asked most comes first. */
export const SURFACES: readonly Surface[] = [...DIALECTS, API, PAGES, ADMINISTRATION, DESCRIPTION];

/** Every route of every surface. */
export const ROUTES: readonly Route[] = routesOf(SURFACES);
