import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

/** How a document looks. The parameter `styles` overrides it. */
const STYLE = `body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.5 system-ui,sans-serif;color:#1f2328;background:#fff}
pre,code{font-family:ui-monospace,monospace;font-size:.9em;background:#f6f8fa}pre{padding:1em;overflow:auto}
img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:.3em .8em}
blockquote{margin:0;padding:0 1em;color:#59636e;border-left:.25em solid #d1d9e0}`;

/**
 * Converts Markdown (CommonMark and GitHub's extensions) to an HTML document. HTML in the Markdown stays, except the
 * tags that GitHub shows as text, such as `script`, `style` and `iframe`.
 */
export function markdownToHtml(markdown: string): string {
  const body = micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  return `<!doctype html><html><head><meta charset="utf-8"><style>${STYLE}</style></head><body>${body}</body></html>`;
}
