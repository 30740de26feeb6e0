import { expect, it } from "vitest";
import { getIsolatePlace, recordIsolatePlace } from "../../../../src/runtime/cloudflare/isolate-place.ts";

it("reads the place of an isolate from requests until the first one that states it", () => {
  let reads = 0;
  const telling = (cf: unknown) => ({
    get cf() {
      reads += 1;
      return cf;
    },
  });
  recordIsolatePlace(telling(undefined));
  recordIsolatePlace(telling({ continent: "EU", longitude: "13.4" }));
  recordIsolatePlace(telling({ continent: "AS", longitude: "103.8" }));
  expect([getIsolatePlace(), reads]).toEqual([{ continent: "EU", longitude: 13.4 }, 2]);
});
