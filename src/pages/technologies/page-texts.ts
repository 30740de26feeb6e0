import type { EngineItems } from "wappalyzer-core";
import type { PageSignals } from "../../core/ports/page-browser.ts";
import { JoinedText, type SliceableText } from "./joined-text.ts";

/** The inputs of one run of the engine. Scripts and style sheets are joined only where they are read. */
export type PageTexts = Omit<EngineItems, "css" | "scripts"> & {
  readonly css?: SliceableText;
  readonly scripts?: SliceableText;
};

/**
 * The inputs of the engine's runs for the signals of a page: one for the page, then one for each external script and
 * each called host. Globals and selectors are matched separately.
 */
export function listPageTexts(signals: PageSignals): PageTexts[] {
  const { certIssuer, cookies, dns, headers, html, meta, robots, scriptSrc, text, url } = signals;
  const scripts = new JoinedText(signals.inlineScripts ?? []);
  const css = new JoinedText(signals.css ?? []);
  const page: PageTexts = {
    ...(certIssuer && { certIssuer }),
    ...(cookies && { cookies }),
    ...(css.length > 0 && { css }),
    ...(dns && { dns }),
    ...(headers && { headers }),
    ...(html && { html }),
    ...(meta && { meta }),
    ...(robots && { robots }),
    ...(scriptSrc && { scriptSrc }),
    ...(scripts.length > 0 && { scripts }),
    ...(text && { text }),
    ...(url && { url }),
  };
  const loaded = (signals.externalScripts ?? []).map((script): PageTexts => ({ scripts: script }));
  const hosts = (signals.xhrHosts ?? []).map((host): PageTexts => ({ xhr: host }));
  return [page, ...loaded, ...hosts];
}
