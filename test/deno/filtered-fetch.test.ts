import { afterAll, expect, it } from "vitest";
import { runDenoScript } from "../support/deno-script.ts";
import { serve } from "../support/local-server.ts";

const site = await serve((_request, response) => response.end("private page"));
afterAll(() => site.close());

it("reaches no private address past the filter, whatever NO_PROXY says", async () => {
  const noProxy = "127.0.0.1";
  const fetchFiltered = async (...allowed: readonly string[]): Promise<unknown> =>
    JSON.parse(
      await runDenoScript("filtered-fetch.mjs", [site.origin, ...allowed], {
        NO_PROXY: noProxy,
        no_proxy: noProxy,
      }),
    );
  expect(await fetchFiltered()).toEqual({ outcome: "refused", noProxy });
  // The variable stays for the connections of the deployment itself.
  expect(await fetchFiltered("allowed")).toEqual({ outcome: "private page", noProxy });
});
