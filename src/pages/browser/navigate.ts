import { type HTTPResponse, TimeoutError } from "@cloudflare/puppeteer";
import type { PageReport, WaitUntil } from "../../platform/page-browser.ts";
import { forbiddenPage, navigationFailure, notRenderable, pageTimeout } from "./failures.ts";
import type { Tab } from "./tab.ts";

/**
 * Loads a page. One that has begun to arrive but does not finish within its time is taken as it is.
 *
 * @param timeoutMs how long the page may load
 * @throws GatewayError when there is no page to show
 */
export async function navigate(
  tab: Tab,
  url: string,
  waitUntil: WaitUntil,
  timeoutMs: number,
): Promise<PageReport> {
  let response: HTTPResponse | null | undefined;
  let incomplete = false;
  try {
    response = await tab.page.goto(url, { waitUntil, timeout: timeoutMs });
  } catch (error) {
    if (tab.policy.forbidden) throw forbiddenPage();
    if (error instanceof TimeoutError) {
      if (tab.response === undefined || isRedirect(tab.response)) throw unfinished(tab.response);
      incomplete = true;
      await tab.session.send("Page.stopLoading").catch(() => undefined);
    } else if (error instanceof Error && error.message.includes("net::")) {
      throw refusal(error.message, tab.response);
    } else throw error;
  }
  response ??= tab.response;
  return {
    url: tab.page.url(),
    status: response?.status() ?? 200,
    incomplete,
    overBudget: tab.policy.overBudget,
  };
}

/** A browser follows 20 redirects; one that was still following after so many would have come to that. */
const REDIRECT_LOOP = 10;

/** An answer that only leads elsewhere is no page: what the tab shows is still what was there before. */
function isRedirect(response: HTTPResponse): boolean {
  return response.status() >= 300 && response.status() < 400 && "location" in response.headers();
}

/** Time ended before any page arrived. */
function unfinished(response: HTTPResponse | undefined): Error {
  const redirects = response?.request().redirectChain().length ?? 0;
  return redirects < REDIRECT_LOOP ? pageTimeout() : navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
}

/** A navigation that the browser itself gives up has been answered with something that it does not show. */
function refusal(text: string, response: HTTPResponse | undefined): Error {
  if (!text.includes("ERR_ABORTED") || response === undefined) return navigationFailure(text);
  if (response.status() === 204 || response.status() === 205) return notRenderable("an empty answer");
  const type = response.headers()["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  return notRenderable(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? `a download (${type})` : "a download");
}
