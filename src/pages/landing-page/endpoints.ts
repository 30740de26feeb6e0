import { toBase64 } from "../../core/encoding/bytes.ts";
import { sha256 } from "../../core/encoding/hash.ts";
import { openEndpoint } from "../../core/routing/endpoint.ts";
import { renderLandingPage } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

let policy: Promise<string> | undefined;

/** `GET /`: a page that explains both services and has a form to try the page service. */
export const landingPage = openEndpoint({
  method: "GET",
  path: "/",
  summary: "Public page",
  answers: () => ({ "text/html": { type: "string" } }),
  handler: async () => {
    policy ??= contentSecurityPolicy();
    return new Response(renderLandingPage(), {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": await policy,
        "cache-control": "public, max-age=300",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    });
  },
});

/** Allows only the page's own script and style, and the answers of this program. */
async function contentSecurityPolicy(): Promise<string> {
  const [script, style] = await Promise.all([SCRIPT, STYLE].map(sourceHash));
  return [
    "default-src 'none'",
    `script-src '${script}'`,
    `style-src '${style}'`,
    "connect-src 'self'",
    "img-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function sourceHash(text: string): Promise<string> {
  return `sha256-${toBase64(await sha256(text))}`;
}
