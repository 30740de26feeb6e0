import type { LateSurface } from "../routing/surface.ts";
import { ADMIN_FAMILY } from "./family.ts";

/** The admin API. The console lies beside it at `/admin`, and shares the shape of its errors. */
export const ADMINISTRATION: LateSurface = {
  tag: "Administration",
  family: ADMIN_FAMILY,
  paths: ["/admin/"],
  alsoOwns: ["/admin"],
  ownPagesOnly: true,
  load: async () => (await import("./index.ts")).ADMIN_ENDPOINTS,
};
