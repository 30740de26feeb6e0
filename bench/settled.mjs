// Compares captures of saved pages at their usual moment with captures ten seconds later.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBrowser } from "../scripts/ensure-browser.mjs";
import { decode, serve, startPageService } from "../test/support/pages.ts";

/** Captures under way at a time: the two of a page are taken one after the other. */
const PARALLEL = 3;

/** Lets a page load only what lies in its own file: other addresses may not answer, and each would cost the time limit. */
const OWN_FILE_ONLY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:";

/**
 * Prints how many pixels of the pages in `folder` (*.html) are the same in both captures, and the pages that differ most.
 *
 * @param {string} folder
 */
export async function run(folder) {
  if ((await ensureBrowser()) === null) throw new Error("There is no browser on this machine.");
  const names = readdirSync(folder).filter((name) => name.endsWith(".html"));
  const site = await serve((_, response, { pathname }) => {
    const name = decodeURIComponent(pathname.slice(1));
    if (!names.includes(name)) {
      response.writeHead(404);
      return response.end();
    }
    response.writeHead(200, {
      "content-type": "text/html",
      "content-security-policy": OWN_FILE_ONLY,
    });
    response.end(readFileSync(join(folder, name)));
  });
  const gateway = await startPageService([site.host]);
  const capture = async (name, delay) => {
    const query = new URLSearchParams({
      url: `${site.origin}/${encodeURIComponent(name)}`,
      ...{ format: "png", size: "o", maxAge: "0", delay: String(delay) },
    });
    const response = await gateway.fetch(`/v1/thumbs?${query}`);
    const bytes = await response.arrayBuffer();
    return response.status === 200 ? decode(bytes) : null;
  };
  const results = [];
  const rest = [...names];
  const work = async () => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      const early = await capture(name, 0);
      const late = await capture(name, 10);
      results.push({ name, share: early === null || late === null ? null : equalShare(early, late) });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  await gateway.close();
  await site.close();
  const shares = results.filter(({ share }) => share !== null);
  const mean = shares.reduce((sum, { share }) => sum + share, 0) / shares.length;
  const alike = shares.filter(({ share }) => share >= 0.99).length;
  console.log(`${names.length} pages, ${names.length - shares.length} without a picture`);
  console.log(
    `equal pixels in all: ${(100 * mean).toFixed(2)} %; pages with 99 % and more: ${alike} of ${shares.length}`,
  );
  const worst = shares.toSorted((a, b) => a.share - b.share).slice(0, 15);
  for (const { name, share } of worst) console.log(`${(100 * share).toFixed(1)} %  ${name}`);
}

/** The share of equal pixels; those beyond the smaller picture count as different. */
function equalShare(a, b) {
  const [width, height] = [Math.min(a.width, b.width), Math.min(a.height, b.height)];
  let equal = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [i, j] = [(y * a.width + x) * 4, (y * b.width + x) * 4];
      if (a.data[i] === b.data[j] && a.data[i + 1] === b.data[j + 1] && a.data[i + 2] === b.data[j + 2])
        equal++;
    }
  }
  return equal / (Math.max(a.width, b.width) * Math.max(a.height, b.height));
}
